#!/usr/bin/env python3
"""validate_sarif.py SCHEMA DTJC: the SARIF of every golden job against the official schema of SARIF 2.1.0.

SCHEMA is sarif-schema-2.1.0.json as OASIS publishes it. Needs python3-jsonschema."""

import glob
import json
import os
import subprocess
import sys

import jsonschema


def main():
    schema_path, dtjc = sys.argv[1:3]
    with open(schema_path, encoding="utf-8") as file:
        validator = jsonschema.validators.validator_for(json.load(file))
    with open(schema_path, encoding="utf-8") as file:
        checker = validator(json.load(file))
    jobs = sorted(glob.glob(os.path.join(os.path.dirname(os.path.abspath(__file__)), "check", "*.dtj")))
    jobs_of_runs = [[job] for job in jobs] + [jobs, ["no_such_file.dtj"]]
    num_errors = 0
    for run in jobs_of_runs:
        output = subprocess.run([dtjc, "check", "--format", "sarif", *run], stdout=subprocess.PIPE, check=False).stdout
        for error in checker.iter_errors(json.loads(output)):
            num_errors += 1
            print(f"{run[0]}: {list(error.absolute_path)}: {error.message}")
    print(f"{len(jobs_of_runs)} documents, {num_errors} errors")
    return 1 if num_errors else 0


if __name__ == "__main__":
    sys.exit(main())
