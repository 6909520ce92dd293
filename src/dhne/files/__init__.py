"""Files, for every part of the package: read with care, written whole or not at all.

=====================  ===========================================================================
:mod:`.reading`        one clear error for whatever goes wrong; gzip unpacked up to a bound
:mod:`.writing`        temporary names, renamed at the end; durable where a run depends on it
:mod:`.plain_json`     values as JSON, and JSON read strictly
:mod:`.digests`        sha256 of files and texts
=====================  ===========================================================================
"""
