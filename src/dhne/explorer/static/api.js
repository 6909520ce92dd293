// Requests to the server. Failures are Errors whose messages can be shown to the user.

async function ask(path, options = {}) {
  let answer;
  try {
    answer = await fetch(`/api/${path}`, options);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Error("The explorer is not responding. Is “dhne explore” still running?");
  }
  if (answer.ok) return answer;
  let detail = `the server answered ${answer.status}`;
  try { detail = (await answer.json()).detail ?? detail; } catch { /* not JSON: the status is enough */ }
  const problem = new Error(detail);
  problem.status = answer.status;
  throw problem;
}

const query = (parameters) => new URLSearchParams(parameters).toString();

export async function get(path, parameters = {}, signal) {
  return (await ask(`${path}?${query(parameters)}`, { signal })).json();
}

export async function getBytes(path, parameters = {}) {
  return (await ask(`${path}?${query(parameters)}`)).arrayBuffer();
}

export async function post(path, body, parameters = {}) {
  return (await send(path, body, parameters)).json();
}

export async function postForText(path, body) {
  return (await send(path, body, {})).text();
}

function send(path, body, parameters) {
  const options = { method: "POST" };
  if (body !== undefined) {
    options.headers = { "Content-Type": "application/json" };
    options.body = JSON.stringify(body);
  }
  return ask(`${path}?${query(parameters)}`, options);
}

const kept = new Map();

// Answers that never change are requested once.
export function once(path, parameters = {}) {
  const key = `${path}?${query(parameters)}`;
  if (!kept.has(key)) {
    kept.set(key, get(path, parameters).catch((error) => { kept.delete(key); throw error; }));
  }
  return kept.get(key);
}
