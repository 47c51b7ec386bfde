"""Faults that nel does not stand yet, by the end of the test's name, with what goes wrong. Each is a strict xfail.

A line is removed with the change that mends it: a mended fault fails the suite until it is. Trap: a line here must say
where the fault is; a test that is wrong is corrected, not listed.
"""

from __future__ import annotations

from pathlib import Path

import nel

KNOWN = {
    "[f25-tool-calls]": "an answer of tool calls alone is called empty, not no_answer (engine/verdict.py)",
    "[f118-1e308]": "numpy overflows in the spread; a warning on stderr and an interval of -inf in the table",
    "test_every_name_is_a_directory_of_its_own[f109-b'xxxxxxxxxxxxxxxx']": "artifacts/files.py: names over 255 bytes",
    "[f109-bench-b'xxxxxxxxxxxx']": "artifacts/files.py: found only when every request is paid",
    "[f111-key-list]": "config/load.py: construct_mapping raises TypeError for a key that is a list",
    "test_f111_a_surrogate_does_not_crash_a_run": "a lone surrogate in the configuration: TypeError from strictjson",
    "test_f112_a_secret_in_extra_is_the_users_to_keep": "the key's value inside generation.extra is stored",
    "test_f03_a_wait_that_is_too_long_is_not_begun": "pacing/gate.py: _PAUSE_MAX of 15 s, whatever the limit says",
    "[f110-os-exit]": "nel list imports every plugin in its own process",
    "[f110-hangs]": "nel list imports every plugin without a deadline",
    "[f56-lang-c]": "cli/eval_show.py: UnicodeEncodeError for the dash of an interval, exit 1",
    "[f56-ascii]": "cli/eval_show.py: UnicodeEncodeError for the dash of an interval, exit 1",
    "test_f20_a_back_off_holds_no_permit": "engine/pipeline.py: at concurrency 1 the run ends with samples never asked",
    "[f15-idle-reset]": "models/transport.py: a reset of an idle connection is no hung_up, so it costs an attempt",
    "test_f15_every_idle_connection_is_gone": "models/client.py: the one free retry takes the next dead connection",
    "test_f37_the_only_sample_waits_too": "models/client.py: what is parked when an outage ends is recorded; exit 3",
    "[f47-list]": "a record that cannot be decoded ends a resume with a traceback",
    "[f47-text]": "a record that cannot be decoded ends a resume with a traceback",
    "[f47-empty]": "a record that cannot be decoded ends a resume with a traceback",
    "[f47-object]": "a record that cannot be decoded ends a resume with a traceback",
    "[f47-response-null]": "a record that cannot be decoded ends a resume with a traceback",
    "[f47-response-type]": "a record that cannot be decoded ends a resume with a traceback",
    "test_f48_a_kill_while_the_store_is_made": "engine/store_format.py: WAL is set after the rename",
    "[f70-directory]": "artifacts/files.py: benchmark_dir follows a link that was planted as a benchmark's directory",
    "[f40-only-done]": "models/streams.py: a stream of [DONE] alone is an empty answer of the model",
    "test_f45_no_temporary_file_stays": "files.py: temporary files of a killed process are never removed",
}


def reason(name: str) -> str | None:
    """Return why a test is known to fail, or None."""
    if not _has_failpoints() and name.startswith(("test_a_kill_at_a_named_point", "test_a_kill_at_the_same_point")):
        late = ("[f45-before_artifacts-fourth]", "[f45-after_artifacts-fourth]")
        return None if name.endswith(late) else "there are no failpoints yet"
    return next((why for end, why in KNOWN.items() if name.endswith(end)), None)


def _has_failpoints() -> bool:
    home = Path(nel.__file__).parent
    return any("NEL_FAILPOINT" in path.read_text(encoding="utf-8") for path in home.rglob("*.py"))
