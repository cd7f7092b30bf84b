"""Published and reference figures on large real files, each file read once more by pandas alone.

The checks stand beside the tests of what they check.
"""

import pytest
import test_agreement
import test_alpha
import test_boards_on_votes
import test_calibration
import test_confidence_weighted
import test_confusion
import test_ensembles
import test_errors_shown
import test_intervals
import test_labels_shown
import test_leave_one_out
import test_lending
import test_listwise
import test_order_and_length
import test_ordinal
import test_position
import test_position_aware
import test_raee
import test_recalibration
import test_rows
import test_selective
import test_shrinkage
import test_th_score

CHECKS = {
    "confidence of reward models and of stated numbers": (
        test_calibration.check_judgebench_reward_model,
        test_calibration.check_judgeconf_stated_confidence,
        test_th_score.check_judgebench_reward_model,
        test_selective.check_judgebench_curve,
        test_recalibration.check_reward_model,
        test_confidence_weighted.check_reward_models,
    ),
    "errors and orders": (
        test_confusion.check_gpt_35_on_pandalm,
        test_confusion.check_o1_mini_on_judgebench,
        test_errors_shown.check_o1_mini_on_judgebench,
        test_position.check_o1_mini_on_judgebench,
        test_position.check_chatgpt_flips_on_faireval,
        test_position.check_a_right_judge_with_unbalanced_orders,
        test_position.check_repeats_show_what_order_adds,
        test_order_and_length.check_judges,
        test_order_and_length.check_raw_share_of_a_right_judge_is_no_bias,
        test_order_and_length.check_no_warning_where_orders_are_balanced,
        test_position_aware.check_one_random_order_a_comparison,
    ),
    "people and juries": (
        test_agreement.check_judges_of_pandalm,
        test_alpha.check_raters_of_wmt23,
        test_leave_one_out.check_pandalm_against_plain_loops,
        test_leave_one_out.check_wmt23_has_people_only,
        test_ensembles.check_judges_of_judgeconf,
    ),
    "boards": (
        test_boards_on_votes.check_intervals_and_tiers_of_75_models,
        test_boards_on_votes.check_dispersion_of_five_judges,
        test_raee.check_board_of_75_models,
        test_raee.check_boards_of_eight_judges,
    ),
    "listwise choices": (test_rows.check_choices_of_each_judge, test_listwise.check_choices),
    "RewardBench 2": (
        test_intervals.check_votes_are_clustered,
        test_ordinal.check_three_levels_beside_btd,
        test_shrinkage.check_twenty_labels_go_further,
        test_labels_shown.check_recommendation_on_rewardbench_2,
        test_lending.check_math_of_rewardbench_2_gains,
        test_ensembles.check_gains_of_rewardbench2_by_the_fit,
    ),
}


@pytest.mark.thorough
@pytest.mark.parametrize("about", CHECKS)
def test_figures_on_real_files(about, shared_data, subtests):
    for check in CHECKS[about]:
        with subtests.test(f"{check.__module__}.{check.__name__}"):
            check(shared_data)


def test_every_check_of_a_real_file_is_run():
    """A check that nobody calls would never fail."""
    called = {check for checks in CHECKS.values() for check in checks}
    modules = {check.__module__ for check in called}
    for module in (
        module for module in globals().values() if getattr(module, "__name__", "") in modules
    ):
        defined = {value for name, value in vars(module).items() if name.startswith("check_")}
        takes = {check for check in defined if check.__code__.co_varnames[:1] == ("shared_data",)}
        assert takes <= called
