"""File access for the whole package: checked reads and atomic writes.

=====================  ===========================================================================
:mod:`.reading`        one clear error for every failure; bounded decompression of gzip
:mod:`.writing`        temporary names, renamed at the end; durable where runs need it
:mod:`.plain_json`     values as JSON, and strict parsing of JSON
:mod:`.digests`        SHA-256 of files and texts
=====================  ===========================================================================
"""
