"""Faults and what holds after them: a scripted server that breaks HTTP, the invariants, and a test for each fault.

Every test names the numbers of its faults (``f01`` and so on); the table says where each is tested. Trap: a run here
has every wait scaled down, so a test that needs a real default has to set it.

   1  rate_limit_headers: f01_retry_after_holds_for_the_whole_endpoint
   2  rate_limit_headers: a_date_is_measured_by_the_servers_own_clock, f02_a_date_in_the_past_is_no_wait
   3  rate_limit_headers: a_hint_that_says_nothing_is_ignored, f03_a_fraction_of_a_second,
      f03_a_header_that_stands_twice, a_wait_that_is_too_long_stops_the_run_resumably,
      f03_a_wait_that_is_too_long_is_not_begun, f03_four_hundred_digits
   4  rate_limit_headers: a_wait_that_is_too_long_stops_the_run_resumably, other_headers_are_understood,
      a_server_that_forbids_a_retry_gets_none
   5  rate_limit_headers: f05_without_a_hint_the_waits_spread_and_grow
   6  rate_limit_headers: f06_a_storm_makes_the_client_small_and_passes
   7  rate_limit_headers: f07_hints_that_go_on_do_not_freeze_the_limiter
   8  rate_limit_headers: a_known_limit_is_kept, f08_an_unknown_limit_is_found
   9  http_status: no_quota_stops_the_run_resumably
  10  http_status: a_passing_fault_is_tried_again, a_lasting_fault_is_unscored_after_the_last_attempt,
      a_final_refusal_is_not_tried_again
  11  http_status: a_final_refusal_is_not_tried_again, the_first_call_finds_a_hopeless_endpoint,
      f11_wrong_key_is_found_by_the_list_of_models, f11_every_file_says_who_refused
  12  http_status: a_prompt_that_is_too_long_is_the_models_failure, f12_vllm_flat_error,
      f12_too_many_output_tokens_are_not_the_models_failure
  13  rate_limit_headers: f13_retries_have_a_budget_and_lose_nothing
  14  http_status: f14_attempts_of_a_sample_are_bounded, f14_a_sdk_that_retries_is_not_inside
  15  sockets: a_connection_that_breaks_is_tried_again, a_closed_idle_connection_costs_no_attempt,
      f15_every_idle_connection_is_gone, f15_a_server_that_closes_after_each_answer, f15_refused_then_up,
      f15_an_answer_before_the_request_is_read
  16  sockets: a_connection_that_breaks_is_tried_again, f16_a_partial_answer_is_no_answer; streaming:
      a_stream_that_breaks_is_no_short_answer
  17  sockets: a_slow_answer_meets_its_own_deadline
  18  sockets: a_slow_answer_meets_its_own_deadline, f18_a_black_hole_is_a_connect_timeout
  19  streaming: a_stream_that_stalls_meets_a_deadline
  20  rate_limit_headers: f20_a_back_off_holds_no_permit
  21  bodies: an_answer_that_is_none_is_tried_again_and_never_scored, an_unusual_answer_is_an_answer
  22  bodies: an_answer_that_is_none_is_tried_again_and_never_scored
  23  bodies: an_unusual_answer_is_an_answer, an_error_that_says_200_is_an_error,
      f23_a_passing_inner_error_is_not_kept; streaming: a_stream_that_breaks_is_no_short_answer
  24  bodies: an_answer_that_is_none_is_tried_again_and_never_scored, an_unusual_answer_is_an_answer
  25  bodies: an_unusual_answer_is_an_answer, a_failure_of_the_model_counts_and_is_asked_once,
      f25_reasoning_and_its_tokens_are_kept; streaming: a_stream_that_ends_by_the_models_fault
  26  bodies: an_unusual_answer_is_an_answer, a_failure_of_the_model_counts_and_is_asked_once,
      a_run_of_truncated_answers_stops_early, f26_few_truncated_answers_do_not_stop_a_run; streaming:
      a_stream_that_ends_by_the_models_fault
  27  bodies: a_failure_of_the_model_counts_and_is_asked_once; streaming: a_stream_that_ends_by_the_models_fault
  28  bodies: a_usage_that_cannot_be_is_never_a_cost
  29  bodies: f29_a_model_that_changes_under_the_run
  30  bodies: an_answer_that_is_none_is_tried_again_and_never_scored, an_unusual_answer_is_an_answer
  31  bodies: an_unusual_answer_is_an_answer, a_body_that_unfolds_is_cut, a_wrong_encoding_harms_its_own_sample_only
  32  bodies: an_endless_body_is_cut, f32_a_body_as_large_as_allowed_is_read; streaming: f32_an_endless_stream_is_cut
  33  http_status: a_redirect_is_refused_and_takes_no_key_along, f33_a_redirect_to_itself_does_not_loop,
      f33_status_200_alone_is_success
  34  sockets: f34_a_name_that_cannot_be_resolved, f34_a_name_server_that_recovers,
      f34_an_address_that_is_a_black_hole_beside_one_that_works, f34_ipv6_alone
  35  sockets: a_certificate_that_is_not_trusted, f35_a_bundle_of_ones_own, f35_a_client_certificate,
      f35_a_bundle_that_is_not_there
  36  outage: an_outage_passes_by_itself, f36_a_port_that_opens_later, f36_people_are_told,
      f36_concurrency_and_timeouts_may_change_on_the_way
  37  outage: f37_the_only_sample_waits_too, an_endpoint_that_stays_down_stops_the_run, f37_the_line_that_resumes,
      f37_a_poisoned_prompt_is_no_outage, f37_an_interrupted_outage_ends_at_once
  38  judge: f38_a_judge_that_is_down_stops_no_generation
  39  http_status: f39_retries_carry_one_idempotency_key, f39_repeats_of_one_body_have_keys_of_their_own,
      f39_a_lost_answer_is_a_possible_double_charge
  40  streaming: a_stream_is_the_same_answer, f40_completions_stream, a_stream_that_breaks_is_no_short_answer,
      f40_reasoning_is_kept_apart, f40_the_first_token_is_the_first_text, a_refused_stream_is_tried_again,
      f40_streamed_and_whole_make_the_same_run
  41  limits: f41_memory_follows_the_concurrency, f41_a_slow_start_has_no_more_in_flight_than_allowed; sockets:
      f41_many_samples_few_connections
  42  sockets: f42_the_wall_clock_jumps
  43  sockets: f43_a_configured_proxy, a_proxy_of_the_environment, old_servers_are_understood,
      f43_two_answers_on_one_connection_stay_apart
  44  sockets: f44_a_last_sample_that_hangs_ends_the_run
  45  kill: a_kill_at_a_named_point, a_kill_at_the_same_point_of_every_attempt, f45_no_temporary_file_stays,
      kills_at_random_moments; judge: kills_at_random_moments_of_a_judged_run
  46  storage: a_torn_log_loses_its_tail_only
  47  storage: a_garbled_log_costs_no_more_than_itself, a_garbled_record_costs_its_own_sample
  48  storage: a_store_without_its_beginning_is_refused, f48_the_manifest_is_gone, f48_a_kill_while_the_store_is_made
  49  storage: f49_one_record_for_one_key
  50  storage: a_full_disk_stops_the_run_resumably, f50_a_full_disk_while_artifacts_are_written
  51  storage: a_failing_fsync_is_no_success
  52  storage: an_output_that_cannot_be_written_is_found_first
  53  process: f53_a_second_owner_is_turned_away, f53_no_lock_outlives_its_owner
  54  process: f54_runs_of_one_second_do_not_meet, f54_a_taken_name_is_refused
  55  process: one_signal_drains, f55_a_hanging_request_is_given_up_after_the_drain_time, f55_twice_leaves_at_once,
      f55_a_closed_terminal, f55_a_run_that_was_stopped_equals_one_that_was_not
  56  process: f56_stdout_is_closed, an_output_that_cannot_be_written, a_poor_environment, f56_on_a_terminal
  57  limits: f57_few_descriptors, f57_little_memory
  58  changes: a_resume_that_would_mix_two_settings_is_refused, what_moves_no_answer_may_change
  59  changes: a_changed_dataset_is_seen, f59_moved_rows_are_the_same_rows
  60  changes: f60_f62_a_mended_scorer_asks_nothing
  61  changes: f61_a_complete_run_resumes_to_nothing, f61_more_repeats_ask_for_what_is_missing
  62  changes: f60_f62_a_mended_scorer_asks_nothing
  63  limits: f63_totals_cover_all_sessions
  64  changes: f64_a_moved_run_resumes
  65  storage: another_format_is_refused
  66  cache: f66_the_same_question_is_asked_once, another_question_is_a_miss, f66_another_url_is_a_miss,
      what_is_no_whole_answer_is_not_kept, a_damaged_entry_is_a_miss, repeats_that_may_differ_are_not_shared,
      f66_repeats_come_back_as_they_were, a_cache_that_cannot_be_written, f66_an_entry_that_cannot_be_written_later,
      f66_two_writers, f66_cached_and_asked_resume_alike, f66_the_cache_is_private
  67  storage: f67_a_report_that_cannot_be_written
  68  storage: f68_a_report_does_not_grow_with_the_answers
  69  process: f69_a_scorer_process_that_is_killed
  70  storage: f70_files_are_private, a_planted_link_is_not_followed, f70_dangling_link_as_output
  77  templates: a_field_that_no_row_has
  78  templates: a_format_that_reaches_for_more_than_data
  79  templates: a_jinja_template_that_reaches_for_more_than_data, a_row_names_no_template
  80  templates: data_reaches_the_model_as_it_is
  81  templates: f81_a_long_prompt_is_sent_whole
  82  templates: a_row_that_names_a_file_or_an_address
  83  templates: a_dataset_that_would_run_or_unpack, f83_a_hub_dataset_runs_no_code
  84  templates: spellings_that_look_alike_are_alike
  95  judge: f95_a_reply_that_cannot_be_read_is_no_grade; tests/judges/test_builtin for every template
  96  judge: f96_a_hostile_answer_does_not_move_its_verdict; tests/judges/test_hostile for every way of quoting
  97  judge: f97_a_judge_that_always_takes_the_first_seat_finds_ties
  98  judge: f98_a_member_that_is_down_or_disagrees_is_seen
  99  judge: f99_a_judge_that_changes_its_mind_is_measured_and_its_cache_knows_what_it_was_asked
 100  judge: f100_a_judge_that_is_of_the_models_family_is_warned_of
 109  names_and_config: every_name_is_a_directory_of_its_own, f109_twins_in_one_run, a_benchmark_with_a_hostile_name,
      f109_samples_with_hostile_ids, a_hostile_model_name, f109_a_run_id_is_a_plain_name
 110  names_and_config: a_bad_plugin_harms_nothing_else, f110_bad_plugins_beside_each_other,
      f110_a_name_that_two_claim
 111  names_and_config: a_configuration_that_is_none, an_unknown_key_is_an_error_with_a_suggestion,
      f111_a_surrogate_does_not_crash_a_run
 112  http_status: f112_an_error_that_echoes_the_key; names_and_config:
      a_secret_in_the_wrong_place_is_refused_and_not_repeated, f112_a_header_from_the_environment,
      a_key_written_as_a_header_is_refused, f112_a_proxy_with_a_password, f112_a_secret_in_extra_is_refused,
      a_key_that_no_header_can_carry; process: f112_no_secret_in_the_process_table
 113  artifacts_hostile: a_hostile_answer_is_inert_in_the_page
 114  artifacts_hostile: f115_f114_cells_of_every_kind
 115  artifacts_hostile: f115_f114_cells_of_every_kind
 116  artifacts_hostile: escapes_do_not_reach_the_terminal, f116_answers_and_model_names
 117  artifacts_hostile: f117_a_surrogate_in_every_place; bodies: any_text_is_stored_and_read_back
 118  artifacts_hostile: a_value_that_json_does_not_have, f118_rewards_whose_sum_is_infinite,
      f118_numbers_of_the_dataset, a_row_with_a_number_that_is_none
 119  process: f119_a_run_needs_its_endpoint_only, f119_a_proxy_is_asked_for_nothing_else
 120  artifacts_hostile: f120_the_embedded_endpoint_is_bound_to_loopback
 129  limits: a_spent_budget_stops_the_run_resumably, f129_a_budget_counts_all_sessions,
      f129_retries_are_paid_from_the_budget, f129_a_price_that_is_not_known_is_refused
"""

import pytest

pytest.register_assert_rewrite("tests.faults.invariants")
