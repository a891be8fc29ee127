# SPDX-License-Identifier: GPL-3.0-or-later
"""The published schema of run records, share/postal-record-1.schema.json, which every record that a test reads is held
against. Readers ignore what they do not know, so the schema is open; here it is closed: a member that it does not name is a
fault."""
import functools
import json
import pathlib

import jsonschema

PATH = pathlib.Path(__file__).resolve().parents[2] / "share" / "postal-record-1.schema.json"


def closed(schema, definitions):
    """The same without room for members that it does not name, and without references: to follow each of them in each record
    takes longer than all else."""
    if isinstance(schema, list):
        return [closed(one, definitions) for one in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        return closed(definitions[schema["$ref"].removeprefix("#/$defs/")] | {key: schema[key] for key in schema.keys() - {"$ref"}}, definitions)
    made = {key: closed(value, definitions) for key, value in schema.items() if key != "$defs"}
    if schema.get("type") == "object" and isinstance(schema.get("properties"), dict):
        made.setdefault("additionalProperties", False)
    return made


@functools.cache
def validator():
    schema = json.loads(PATH.read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(closed(schema, schema["$defs"]))


def check_record(record):
    """Fails with the first members that are not as the schema has them."""
    faults = [f"{one.json_path}: {one.message[:300]}" for one in validator().iter_errors(record)]
    assert not faults, "\n".join(faults[:5])
