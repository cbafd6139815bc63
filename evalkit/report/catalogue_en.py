"""The words of the report in English. Keys and fields must equal those of `catalogue_zh`."""

from __future__ import annotations

from typing import Final

WORDS: Final[dict[str, str | tuple[str, ...]]] = {
    # The verdict
    "state.SHIP": "SHIP",
    "state.HOLD": "HOLD",
    "state.INCONCLUSIVE": "INCONCLUSIVE",
    "state.INVALID": "INVALID",
    "gate": "Gate: {state} (exit {exit}).",
    "exit": "exit {exit}",
    "verdict.SHIP": (
        "{candidate} is non-inferior to {baseline} within {margin} points: the paired "
        "difference is {difference} points (95% CI {low} to {high}, {n} pairs).",
        "{candidate} is non-inferior to {baseline} at the margins that were set.",
    ),
    "verdict.HOLD": "{candidate} is worse than {baseline}: {reason}.",
    "verdict.INCONCLUSIVE": (
        "{candidate} is not shown to be non-inferior to {baseline} within {margin} points: "
        "{reason}.",
        "{candidate} is not shown to be non-inferior to {baseline}: {reason}.",
    ),
    "verdict.INVALID": "{candidate} and {baseline} cannot be compared: {reason}.",
    "verdict.more": "; {k} more below",
    "verdict.join": "; ",
    "where": "{metric}, {scope}: ",
    "scope_metric": "{metric}, {scope}",
    # Reason codes, as clauses
    "reason.ALL_NI": "every gated metric is non-inferior at its margin",
    "reason.UNPROVEN": (
        "{scope}: {n} pairs cannot prove {margin} points, so it is watched for damage only "
        "and nothing is claimed about it",
        "{scope} has too few pairs for a claim and is watched for damage only",
    ),
    "reason.BETTER": (
        "{where}{candidate} is measurably better than {baseline} ({difference} points, 95% CI "
        "{low} to {high})",
        "{candidate} is measurably better than {baseline}",
    ),
    "reason.FLIPS_HIGH": (
        "answers flip more often than noise explains: {excess_rate} of the prompts beyond the "
        "baseline against itself (95% CI {low_rate} to {high_rate}, {n} prompts asked twice; "
        "more than {limit_rate} is reported)",
        "answers flip more often than noise explains",
    ),
    "reason.DEGRADED_ACC": (
        "accuracy in {scope} fell by more than the margin of {margin} points ({difference} "
        "points, 95% CI {low} to {high}, {n} pairs)",
        "accuracy fell by more than the margin",
    ),
    "reason.HALLUCINATION_UP": (
        "hallucinations in {scope} rose by more than the margin of {margin} points "
        "({difference} points, 95% CI {low} to {high}, {n} pairs)",
        "hallucinations rose by more than the margin",
    ),
    "reason.DEGENERATE_UP": (
        "empty, looping or malformed answers rose by more than the margin of {margin} points "
        "({difference} points, 95% CI {low} to {high}, {n} pairs)",
        "empty, looping or malformed answers rose by more than the margin",
    ),
    "reason.BOTH_DEGRADED": (
        "{candidate} and {baseline} are both worse than the reference, so a human must decide",
        "both are worse than the reference, so a human must decide",
    ),
    "reason.SEQUENCE_STOPPED": (
        "a safer candidate did not pass, so the fixed order of tests stops before {candidate}"
    ),
    "reason.MISSING_SENSITIVE": (
        "{where}it passes on the answered pairs, but not when the {missing} missing answers "
        "are counted against {candidate} (already {tipping} wrong ones among those of "
        "{candidate} would lose it)",
        "{where}it passes on the answered pairs, but not when the {missing} missing answers "
        "are counted against {candidate}",
        "it passes only if the missing answers are left out",
    ),
    "reason.UNPROVABLE_N": (
        "{where}{n} pairs are too few (at least {floor} needed even if no answer changes, "
        "about {equal} if the two are equally good)",
        "{where}{n} pairs are too few (at least {floor} needed)",
        "there are too few pairs to prove anything",
    ),
    "reason.UNDERPOWERED": (
        "{where}{n} pairs are too few (about {equal} needed if the two are equally good)",
        "{where}{n} pairs are too few",
        "there are too few pairs",
    ),
    "reason.LEANS_BAD": (
        "{where}{n} pairs would do for two equally good models, so the data lean against "
        "{candidate} (about {observed} needed at the difference seen)",
        "{where}{n} pairs would do for two equally good models, so the data lean against "
        "{candidate}",
    ),
    "reason.NEAR_MARGIN": (
        "{where}the difference ({difference} points) lies so close to the margin of {margin} "
        "points that more prompts will not settle it",
        "the difference lies so close to the margin that more prompts will not settle it",
    ),
    "reason.PAIRING_BROKEN": (
        "they were not asked the same prompts ({reasons})",
        "they were not asked the same prompts",
    ),
    "reason.CONFIG_MISMATCH": (
        "they did not run under the same conditions ({detail})",
        "they did not run under the same conditions",
    ),
    "reason.ERROR_RATE_HIGH": (
        "too many requests have no answer ({baseline} {baseline_n}, {candidate} {candidate_n} "
        "of {n}, limit {limit}%)",
        "too many requests have no answer",
    ),
    "reason.ERROR_RATE_DIFFERS": (
        "one leaves clearly more requests unanswered than the other ({baseline} {baseline_n}, "
        "{candidate} {candidate_n} of {n})",
        "one leaves clearly more requests unanswered than the other",
    ),
    "reason.TRUNCATION": (
        "too many answers were cut off at max_tokens, loops apart ({baseline} {baseline_n} of "
        "{n_baseline}, {candidate} {candidate_n} of {n_candidate}, limit {limit}%)",
        "too many answers were cut off at max_tokens, loops apart",
    ),
    "reason.TRUNCATION_DIFFERS": (
        "one arm was cut off at max_tokens, loops apart, more often than the other ({baseline} "
        "{baseline_n} of {n_baseline}, {candidate} {candidate_n} of {n_candidate})",
        "one arm was cut off at max_tokens, loops apart, more often than the other",
    ),
    "reason.FEW_CLUSTERS": (
        "{where}only {clusters} independent groups of prompts ({needed} are needed)",
        "there are too few independent groups of prompts",
    ),
    "reason.NOTHING_PAIRED": "no prompt was answered by both",
    "reason.BASELINE_ZERO": (
        "the baseline got none of {n} answers right: such prompts cannot show a loss",
        "the baseline got no answer right: such prompts cannot show a loss",
    ),
    "reason.JUDGE_WEAK": (
        "the judge of {taskset} is too weak to decide on (J = {youden} on {labels} labelled "
        "answers; at least {least_youden} on {least_labels} are needed)",
        "{taskset} was judged by {used}, and the calibration in the policy is of {calibrated}: "
        "another judge, rubric or sampling",
        "the judge of {taskset} was never calibrated (at least J = {least_youden} on "
        "{least_labels} labelled answers is needed)",
        "a judge is too weak to decide on",
    ),
    "reason.UNPLANNED_LOOK": (
        "this is look {look} at these two, and the plan that was fixed before the run "
        "({plan}) does not allow it: over {look} looks the chance of a false SHIP is only "
        "bounded by {bound}, not by {alpha}",
        "this is a look that the plan does not allow",
    ),
    "reason.STAGE_2_DUE": (
        "stage 1 did not decide everything, and the plan has a second stage: about {more} "
        "prompts that were not asked yet, up to {each} a taskset (a taskset has only {few} left)",
        "stage 1 did not decide everything, and the plan has a second stage: about {more} "
        "prompts that were not asked yet, up to {each} a taskset",
        "stage 1 did not decide everything, and the plan has a second stage",
    ),
    "reason.SCORERS_FAILED": (
        "the scorer failed on {n} answers: a fault of the taskset or its scorer, not of an "
        "endpoint",
        "the scorer failed: a fault of the taskset or its scorer, not of an endpoint",
    ),
    "reason.JUDGE_FAILED": (
        "the judge gave no readable verdict on {n} answers: a fault of the judge, not of an "
        "endpoint that is compared",
        "the judge gave no readable verdicts: a fault of the judge, not of an endpoint",
    ),
    "reason.SAME_ENDPOINT": (
        "{identical} of {n} answers are word for word the same, as if one endpoint had been asked "
        "twice",
        "they look like the same endpoint twice ({detail})",
        "they look like the same endpoint twice",
    ),
    "reason.NOT_QUANTIZED": (
        "{candidate} is not the cheaper build that it is taken for ({detail})",
        "the candidate is not the cheaper build that it is taken for",
    ),
    "reason.PREFLIGHT_FAILED": (
        "{endpoint} fails a check that every run rests on ({detail})",
        "an endpoint fails a check that every run rests on",
    ),
    "reason.IDENTITY_CHANGED": (
        "an endpoint became another one in the middle of its run ({detail})",
        "an endpoint became another one in the middle of its run",
    ),
    "reason.other": ("{code} ({detail})", "{code}"),
    # What to do about a reason
    "step.UNPROVABLE_N": (
        "compare anew on about {first} prompts if the two are equally good ({most} needs about "
        "{anew}), none of them asked here, in another folder: this plan has no further look",
        "compare anew on about {anew} prompts (needed for {most}), none of them asked here, in "
        "another folder: this plan has no further look",
        "compare anew on more prompts, in another folder",
    ),
    "step.UNDERPOWERED": (
        "compare anew on about {first} prompts if the two are equally good ({most} needs about "
        "{anew}), none of them asked here, in another folder: this plan has no further look",
        "compare anew on about {anew} prompts (needed for {most}), none of them asked here, in "
        "another folder: this plan has no further look",
        "compare anew on more prompts, in another folder",
    ),
    "step.LEANS_BAD": (
        "look at the regressions first, then compare anew on {observed} prompts or keep {baseline}",
        "look at the regressions first: the data lean against {candidate}",
        "look at the regressions first",
    ),
    "step.STAGE_2_DUE": (
        "plan a larger taskset: stage 1 asked every prompt there is, so nothing is left for "
        "stage 2{none_left}",
        "ask stage 2: the same command with --stage-2 {each}",
        "ask stage 2 of the plan",
    ),
    "step.sequential": (
        "run the same command with a larger --limit: about {more} more prompts if the two are "
        "equally good (needed for {most}); this plan allows every look",
        "run the same command with a larger --limit: this plan allows every look",
    ),
    "step.NEAR_MARGIN": "decide whether the margin is right; more prompts will not help",
    "step.SEQUENCE_STOPPED": "settle the safer candidate first",
    "step.MISSING_SENSITIVE": "run the same command again: it asks what has no answer",
    "step.BOTH_DEGRADED": "have a human read the regressions of both",
    "step.DEGRADED_ACC": "read the regressions below before anything else",
    "step.HALLUCINATION_UP": "read the regressions below before anything else",
    "step.DEGENERATE_UP": "check stop strings, chat template and max_tokens of both endpoints",
    "step.PAIRING_BROKEN": "run both endpoints on the same prompts with --fresh",
    "step.CONFIG_MISMATCH": "give both endpoints the same settings and run again",
    "step.ERROR_RATE_HIGH": "repair the endpoint, then run the same command again",
    "step.ERROR_RATE_DIFFERS": "repair the endpoint, then run the same command again",
    "step.TRUNCATION": "raise max_tokens and run again",
    "step.TRUNCATION_DIFFERS": "raise max_tokens and run again",
    "step.FEW_CLUSTERS": "ask more prompts (a larger --limit, more tasksets)",
    "step.NOTHING_PAIRED": "check that both endpoints answer, then run again",
    "step.BASELINE_ZERO": "check the tasksets and the endpoint",
    "step.SCORERS_FAILED": "mend the taskset",
    "step.JUDGE_WEAK": (
        "calibrate the judge on more labelled answers of both kinds (evalkit calibrate), or take "
        "a better judge"
    ),
    "step.JUDGE_FAILED": "run again to ask the judge about them once more, or take another judge",
    "step.UNPLANNED_LOOK": (
        "compare anew in another folder on prompts that were not asked before, and declare a "
        "plan with more looks beforehand"
    ),
    "step.SAME_ENDPOINT": "check that the two addresses serve different weights",
    "step.NOT_QUANTIZED": "serve the quantized weights and run again",
    "step.PREFLIGHT_FAILED": "repair the endpoint (evalkit check shows it), then run again",
    "step.IDENTITY_CHANGED": "find out what changed, and run again with --fresh",
    # Recommendation
    "recommend.ship_candidate": "Ship {endpoint}.",
    "recommend.ship_candidate.several": "Ship {endpoint}: the cheapest candidate that passed.",
    "recommend.keep_baseline": ("Keep {endpoint}: {candidate} did not pass.", "Keep {endpoint}."),
    "recommend.not_yet": ("Not yet: {step}.", "Not yet: there is no decision to act on."),
    # Where an interval lies
    "metric_state.superior": "superior",
    "metric_state.non-inferior": "non-inferior",
    "metric_state.non-inferior but measurably worse": "non-inferior but measurably worse",
    "metric_state.inferior": "inferior",
    "metric_state.inconclusive": "inconclusive",
    "metric_state.worse, size unresolved": "worse, size unresolved",
    "metric_state.too few pairs": "too few pairs",
    "metric_state.alarm": "{state} (alarm only)",
    "metric_line": (
        "{metric}, {scope}: {difference} points {interval}, margin {margin} points, {n} pairs: "
        "{state}"
    ),
    "metric_line.invalid": "not judged, because the comparison is invalid",
    "metric_tests": "worse than the margin: {degraded} (Holm); non-inferior: {noninferior}",
    # Names
    "metric.accuracy": "accuracy",
    "metric.hallucination": "hallucination",
    "metric.degenerate": "degenerate output",
    "scope.pooled": "all families",
    "row.pooled": "all families (mean)",
    "scope.facts": "facts",
    "scope.instructions": "instructions",
    "scope.code": "code",
    "scope.longform": "longform",
    "scope.math": "math",
    "role.baseline": "Baseline",
    "role.candidate": "Candidate",
    "outcome.correct": "correct",
    "outcome.incorrect": "incorrect",
    "outcome.abstained": "abstained",
    "outcome.unscored": "unscored",
    "outcome.missing": "missing",
    "flag.hallucinated": "hallucinated",
    "flag.truncated": "truncated",
    "flag.empty": "empty",
    "flag.loop": "loop",
    "flag.garbled": "garbled",
    "flag.wrong_language": "wrong language",
    "flag.bad_format": "bad format",
    "flag.refused": "refused",
    "flag.extractors_disagree": "extractors disagree",
    "cause.truncated": "truncated",
    "cause.empty": "empty",
    "cause.loop": "loop",
    "cause.garbled": "garbled",
    "cause.wrong_language": "wrong language",
    "cause.refused": "refused",
    "cause.abstained": "abstained",
    "cause.unparsable": "unparsable",
    "cause.bad_format": "bad format",
    "cause.wrong_result": "wrong result",
    "cause.judge_only": "judge only",
    "cause.infrastructure": "no answer",
    "transition.regression": "regression",
    "transition.improvement": "improvement",
    "transition.both_right": "both right",
    "transition.both_wrong": "both wrong",
    "transition.missing": "no answer",
    "length.short": "short (under 500 characters)",
    "length.medium": "medium (under 4,000 characters)",
    "length.long": "long",
    "pair_state.differs": "texts differ",
    "pair_state.no_answer": "no answer",
    "pair_state.unscored": "unscored",
    "col.transition": "Pairs",
    "col.embedded": "Embedded",
    "explorer_table": "What is embedded",
    "explorer_lead.all": "All {total} pairs are in this page, with both answers.",
    "explorer_lead.part": (
        "{shown} of {total} pairs are in this page, with both answers: flips first, then "
        "answers that are missing or broken, then others by chance. The rest is in the "
        "run folders (--embed all puts it in here). Every number above counts all pairs."
    ),
    "explorer_none.none": (
        "Single pairs were left out of this page (--embed none); they are in the run folders."
    ),
    "explorer_none.gone": (
        "Single pairs cannot be shown: the run folders of this comparison are not where "
        "they were. Put them back and run evalkit report on the comparison's folder."
    ),
    "explorer_none.changed": (
        "Single pairs cannot be shown: the run folders were scored or asked again after "
        "this comparison. Run evalkit compare again."
    ),
    "explorer_none.unreadable": (
        "Single pairs cannot be shown: the run folders or their tasksets cannot be read "
        "as they were. evalkit report says why on the console."
    ),
    "ui.explorer": "Explorer: pair by pair",
    "ui.explorer_noscript": (
        "The explorer needs JavaScript. The verdict, all figures and the first "
        "regressions above do not."
    ),
    "ui.explorer_broken": "The embedded pairs cannot be read: this page is damaged or cut off.",
    "ui.explorer_old": (
        "This browser is too old for the explorer: it cannot inflate the embedded pairs."
    ),
    "ui.explorer_link": "Look through all of them in the explorer",
    "explorer.candidate": "Candidate",
    "explorer.transition": "Change",
    "explorer.family": "Family",
    "explorer.taskset": "Taskset",
    "explorer.cause": "Cause",
    "explorer.language": "Language",
    "explorer.length": "Prompt length",
    "explorer.state": "Status",
    "explorer.any": "all",
    "explorer.search": "Search",
    "explorer.search_hint": "words in prompts and answers",
    "explorer.clear": "Show all",
    "explorer.keys": "keys: j k next and previous, / search, Esc back",
    "explorer.list": "Pairs",
    "explorer.pair": "The chosen pair",
    "explorer.choose": "Choose a pair from the list.",
    "explorer.count": "$n of $total pairs in this page",
    "explorer.none": "No pair in this page passes.",
    "explorer.stop": "Stop",
    "explorer.stopped": "(stopped)",
    "explorer.searching": "$done of $all parts searched",
    "explorer.unreadable": "This part of the page cannot be read.",
    "explorer.previous": "Previous",
    "explorer.next": "Next",
    "explorer.close": "Close",
    "explorer.not_here": "'$id' is not among the pairs in this page.",
    "explorer.epoch": "epoch $n",
    "explorer.prompt": "Prompt",
    "explorer.target": "Target",
    "explorer.reasoning": "Reasoning",
    "explorer.extracted": "Extracted",
    "explorer.value": "Score",
    "explorer.explanation": "Why",
    "explorer.flags": "Flags",
    "explorer.finish": "Finish reason",
    "explorer.tokens": "Tokens",
    "explorer.seconds": "Latency",
    "explorer.first": "First token",
    "explorer.seconds_unit": "$s s",
    "explorer.no_answer": "No answer: $reason",
    "explorer.null_text": "The server sent null.",
    "explorer.empty_text": "The answer is empty.",
    "explorer.redacted": "redacted, hash $hash",
    "explorer.redacted_text": "redacted: $n characters, hash $hash",
    "explorer.same": "Both answers are alike, word for word.",
    "explorer.differs": "First difference at character $n.",
    "explorer.too_different": "They differ too much to be told apart word by word.",
    "explorer.hash_differs": "The answers differ.",
    "explorer.curl": "Copy as curl",
    "explorer.copied": "Copied.",
    "explorer.copy_failed": "Select and copy:",
    "explorer.curl_more": "Not in it, because it is not recorded: $names.",
    "language.en": "English",
    "language.zh": "Chinese",
    "message_role.system": "system",
    "message_role.user": "user",
    "message_role.assistant": "assistant",
    "untested.template": "whether chat template and tokenizer are equal",
    "untested.sampling": "whether sampling was equal",
    "untested.prompts": "whether the prompts were equal",
    "untested.texts": "degenerate output, of answers without a text",
    "untested.weights": "which weights answered",
    "untested.server": "how they were served",
    "untested.policy": "whether the margins were fixed before",
    "exclusion.only_in_baseline": "asked of the baseline only",
    "exclusion.only_in_candidate": "asked of the candidate only",
    "exclusion.prompt_mismatch": "prompts differ",
    "exclusion.unknown_sample": "unknown sample",
    # Threats
    "level.ok": "fine",
    "level.warn": "note",
    "level.fail": "fault",
    "threat.COVERAGE": ("{complete} of {planned} prompts answered by both", "coverage"),
    "threat.EXCLUSIONS": (
        "excluded from pairing: {n} ({reasons})",
        "excluded from pairing: {n}",
        "exclusions",
    ),
    "threat.MISSING": ("no answer: {baseline_n} vs {candidate_n} of {n}", "missing answers"),
    "threat.MISSING_REASONS": "why missing: {detail}",
    "threat.TRUNCATED": (
        "cut off at max_tokens, loops apart: {baseline_n} vs {candidate_n} of {n}",
        "truncated answers",
    ),
    "threat.DEGENERATE": (
        "empty, looping or unreadable: {baseline_n} vs {candidate_n} of {n}",
        "degenerate answers",
    ),
    "threat.NOISE_FLOOR": (
        "noise floor: {n} prompts asked of the baseline twice, {flips} flipped, {same} word for "
        "word equal; the candidate exceeds that by {excess} points",
        "noise floor: {n} prompts asked of the baseline twice, {flips} flipped, {same} word for "
        "word equal",
        "run-to-run noise (the baseline against itself) was not measured",
    ),
    "threat.UNSCORED": (
        "nothing to score in the answer: {baseline_n} vs {candidate_n} of {n}",
        "unscored answers",
    ),
    "threat.SCORER_ERRORS": (
        "scorer failures: {baseline_n} vs {candidate_n} of {n}",
        "scorer failures",
    ),
    "threat.GREEDY_EPOCHS": (
        "{epochs} epochs at temperature 0 prove nothing that one did not: {identical} of {n} "
        "prompts had the same answers every time",
        "epochs at temperature 0 prove nothing that one did not",
    ),
    "threat.IDENTICAL_TEXTS": (
        "word-for-word equal answers: {identical} of {n}",
        "word-for-word equal answers",
    ),
    "threat.SKIPPED": ("left out: {names}", "tasksets left out"),
    "threat.FIELDS_OMITTED": (
        "sampling fields that no endpoint was sent, because one refuses them: {fields}",
        "sampling fields that were not sent",
    ),
    "threat.CONFOUNDED": (
        "allowed although they differ: {finding} ({detail})",
        "allowed although they differ: {finding}",
        "allowed although they differ",
    ),
    "threat.LOOK": ("look {look} at these two, stage {stage}; plan: {plan}", "looks"),
    "threat.JUDGED": (
        "{taskset} was judged by a model (sensitivity {sensitivity}, specificity {specificity}, "
        "J = {youden}, {labels} labels): differences are corrected by J",
        "judged by a model",
    ),
    "threat.RULE_WEAK": (
        "{taskset} was decided by a rule ({scorer}), which agrees with the labels of {labels} on "
        "{share} of open answers: name a judge, or read only the difference of the two",
        "{taskset} was decided by a rule that often disagrees with labels: name a judge",
        "open answers decided by a rule",
    ),
    "left_out.label_fault": "label or check known to be wrong",
    "left_out.needs_download": "their checker needs word lists that are downloaded",
    "left_out.random_checker": "their checker draws at random",
    "threat.LABEL_FAULTS": (
        "{taskset}: {n} of its prompts counted although their label or check is known to be "
        "wrong; --skip-faulty leaves them out",
        "prompts whose label is known to be wrong",
    ),
    "threat.PROMPTS_LEFT_OUT": (
        "{taskset}: {n} of its prompts not asked ({why})",
        "prompts of a public set that were not asked",
    ),
    "threat.REVIEWED": (
        "reviewers ({reviewers}) marked {marks} samples, {applied} marks change something. "
        "Before: {before}; after: {after}. Marks can only take a SHIP away",
        "reviewers marked samples",
    ),
    "threat.REVIEW_ONE_SIDED": (
        "every mark that changes something favours the {arm} ({n}): look at those that could "
        "speak against it too",
        "every mark favours one arm",
    ),
    "threat.JUDGE": (
        "{judge} decided {tasksets} by the rubric {rubric} ({hash}); asked twice in another "
        "order, it agreed with itself on {share} of {twice} answers; without a verdict: {lost}",
        "{judge} decided {tasksets} by the rubric {rubric} ({hash}); without a verdict: {lost}",
        "a model decided a part of the answers",
    ),
    "threat.CALIBRATED_LATER": (
        "the judge of {tasksets} was calibrated after the run had begun; the policy that was "
        "fixed before it held no calibration",
        "a judge was calibrated after the run had begun",
    ),
    "threat.JUDGES_ITSELF": (
        "the judge {judge} is the same endpoint as {endpoint}: it may favour its own answers",
        "the judge is one of the endpoints that are compared",
    ),
    "threat.POLICY_CHANGED": (
        "the policy was changed after the run: {changes}. Under the one that was fixed before "
        "it: {before}; under the new one: {after}. The first gates, the new one can only take "
        "a SHIP away",
        "the policy was changed after the run",
    ),
    "threat.POLICIES_DIFFER": (
        "the runs were recorded under different policies ({arms}): {changes}. Under the first: "
        "{before}; under the other: {after}. SHIP needs both",
        "the runs were recorded under different policies",
    ),
    "threat.POLICY_UNKNOWN": (
        "a run ({arms}) was recorded under another policy, of which only the hash is known",
        "a run was recorded under another policy, of which only the hash is known",
    ),
    "threat.SERVER_DIED": (
        "the server of {endpoint} died while it was asked ({deaths}×): {detail}",
        "deaths of a server",
    ),
    "threat.RECORDED": (
        "recorded by {tools}, which scored too ({metrics}). Not testable: {untested}",
        "recorded by {tools} and scored here. Not testable: {untested}",
        "recorded by another tool: what it did not write down is not testable",
    ),
    "threat.SANDBOX": (
        "programs ran in the weaker sandbox '{sandbox}' ({layers}): install bubblewrap",
        "weaker sandbox",
    ),
    "threat.other": ("{finding}: {detail}", "{finding}"),
    # What the preflight found; the message says it whole
    "finding.distinct": "{message}",
    "finding.request": "{message}",
    "finding.engine": "{message}",
    "finding.engine_version": "{message}",
    "finding.context_length": "{message}",
    "finding.template_hash": "{message}",
    "finding.tokenizer_hash": "{message}",
    "finding.rendering_hash": "{message}",
    "finding.same_answers": "{message}",
    "finding.quantized": "{message}",
    "finding.quantization": "{message}",
    "finding.prompt_tokens": "{message}",
    "finding.token_ids": "{message}",
    "finding.context": "{message}",
    "finding.seed": "{message}",
    "finding.stop": "{message}",
    "finding.long_prompt": "{message}",
    "finding.logprobs": "{message}",
    "finding.reasoning": "{message}",
    "finding.answer": "{message}",
    "finding.rendering": "{message}",
    "finding.recorded_tasks": "{message}",
    "finding.recorded_documents": "{message}",
    "finding.recorded_prompts": "{message}",
    "finding.recorded_settings": "{message}",
    "finding.sampling": "{message}",
    "finding.max_tokens": "{message}",
    "finding.finish_reason": "{message}",
    "finding.stream": "{message}",
    "finding.alive": "{message}",
    "finding.omitted": "{message}",
    # Why there is no number
    "warn.baseline_too_low": "too few right answers of the baseline for a ratio",
    "warn.few_clusters": "few independent groups",
    "warn.no_data": "no data",
    "warn.no_complete_pair": "no prompt was answered by both",
    "warn.no_flips": "no flips",
    "warn.sparse_graded": "few graded differences",
    "warn.unbounded": "no upper bound",
    "warn.none": "not measured",
    # Headlines
    "headline.difference": "Paired difference in accuracy",
    "headline.recovery": "Recovery",
    "headline.flips": "Flips",
    "unit.points": "points",
    "unit.none": "",
    "headline.difference.detail": "95% CI · mean over families · margin −{margin} points",
    "headline.recovery.detail": (
        "95% CI · over all answers {baseline_rate} → {candidate_rate}",
        "95% CI",
    ),
    "headline.flips.detail": (
        "regressions : improvements, {n} pairs · {p} · baseline against itself: {noise}",
        "regressions : improvements, {n} pairs · {p}",
    ),
    # Noise floor
    "noise.lead": (
        "{n} prompts were asked of the baseline twice: {flips} of the answers flipped between "
        "right and wrong, {same} were word for word equal. On the same prompts the candidate's "
        "flips exceed that by {excess} points. Over all {all_n} pairs {all_flips} flip.",
        "{n} prompts were asked of the baseline twice: {flips} of the answers flipped between "
        "right and wrong, {same} were word for word equal. Over all {all_n} pairs {all_flips} "
        "flip.",
    ),
    "noise.share": "{rate} of {n}",
    "noise.source.batching": (
        "Both times at temperature 0, so this is the noise of the server itself."
    ),
    "noise.source.sampling": "With another seed, so this is the noise of sampling.",
    "table.noise": "Flips of the baseline against itself, and of the candidate beyond them",
    "col.asked_twice": "Asked twice",
    "col.noise": "Baseline against itself [95%\u00a0CI]",
    "col.same_text": "Same text [95%\u00a0CI]",
    "col.beside": "Candidate, same prompts [95%\u00a0CI]",
    "col.excess": "Excess, points [95%\u00a0CI]",
    "method.noise.name": "Noise floor",
    "method.noise": (
        "A seeded share of the prompts is asked of the baseline a second time, among the others "
        "and with the same settings. Excess flips are the candidate's flips minus the "
        "baseline's own on the same prompts, with the paired interval. They measure how many "
        "answers the candidate changes; the verdict does not depend on them."
    ),
    "ui.noise": "Noise floor",
    # pass@k
    "pass.lead": (
        "Every prompt was asked {epochs} times. pass@k is the chance that at least one of k "
        "answers is right; it informs and does not gate.",
        "pass@k is the chance that at least one of k answers is right; it informs and does not "
        "gate.",
    ),
    "pass.left_out": "Up to {n} prompts had too few answers in both arms and are left out.",
    "table.pass": "pass@k of both arms, paired by prompt",
    "col.pass_family": "Family",
    "col.pass_k": "Tries",
    "col.pass_prompts": "Prompts",
    "col.pass_arm": "{arm} [95%\u00a0CI]",
    "col.pass_difference": "Difference, points [95%\u00a0CI]",
    "method.passes.name": "pass@k",
    "method.passes": (
        "The unbiased estimator 1 − C(n−c, k) / C(n, k) from n answers to a prompt of which c are "
        "right (Chen et al. 2021), averaged over prompts. Wilson's interval for each arm and the "
        "paired interval for the difference take prompts as units, or what they are clustered by; "
        "repeats of a prompt are never independent. pass@1 is the mean accuracy."
    ),
    "ui.passes": "pass@k",
    # Forest plot
    "forest.title": "Paired difference in accuracy, {candidate} minus {baseline}",
    "forest.description": (
        "One row for each family and one for all. A dot is the difference in points, the thick "
        "bar its 90% interval, which the one-sided 5% test reads, the thin line its 95% "
        "interval. The solid line is zero, the dashed line the margin. {rows}"
    ),
    "forest.row": "{label}: {difference} points {interval}, margin {margin}, {state}.",
    "forest.axis": "points; left of zero {candidate} is worse",
    "forest.margin": "margin −{margin}",
    "forest.col.n": "pairs",
    "forest.col.baseline": "{name}",
    "forest.col.candidate": "{name}",
    "forest.col.difference": "difference [95%\u00a0CI]",
    "forest.col.state": "reads as",
    # Gains
    "gain.weights": "Weights",
    "gain.speed": "Tokens per second",
    "gain.latency": "Median latency",
    "gain.p95": "95th percentile latency",
    "gain.cost": "Cost of 1M tokens",
    "gain.tokens": "Tokens an answer",
    # Needed
    "needed.near": "more prompts will not settle it: revisit the margin",
    "needed.few": "below the floor: too few to say more",
    "needed.met": "enough for two equal models; the data lean against the candidate",
    # Cards
    "cut": "… {n} characters cut …",
    "flips.note": "{shown} of {total} are shown here; the run folders hold them all.",
    "no_answer": "no answer: {reason}",
    "null_text": "the server sent no text",
    "empty_text": "empty",
    "redacted": "Prompts and answers are redacted: equal hashes of one sample are equal texts.",
    "redacted.role": "redacted",
    "redacted.hash": "hash {hash}",
    "redacted.text": "redacted: {n} characters, hash {hash}",
    "redacted.target": "redacted",
    "fact.finish": "finish",
    "fact.tokens": "tokens",
    "fact.flags": "flags",
    "fact.value": "value",
    "epoch": "epoch {n}",
    # Tables
    "table.transitions": (
        "Pairs by outcome with {baseline} (rows) and with {candidate} (columns), where abstaining "
        "was possible"
    ),
    "col.outcome_of": "With {arm}",
    "col.becomes": "{outcome} with {arm}",
    "table.outcomes": "{baseline} → {candidate}, over the pairs that both answered",
    "table.causes": "Regressions by cause",
    "table.tasksets": "What was asked",
    "col.family": "Family",
    "col.cause": "Causes",
    "col.total": "Total",
    "col.taskset": "Taskset",
    "col.samples": "Samples",
    "col.languages": "Languages",
    "col.margin": "Margin (points)",
    "col.max_tokens": "max_tokens",
    "col.scorer": "Scorer",
    "col.hash": "Hash",
    "skipped": "{taskset} ({family}) was left out: {reason}",
    # Provenance and details
    "prov.engine": "Engine",
    "prov.sampling": "Sampling",
    "prov.seed": "Seed",
    "prov.policy": "Policy",
    "prov.version": "evalkit",
    "prov.created": "Made",
    "fact.model": "model",
    "fact.engine": "engine",
    "fact.quantization": "quantization",
    "fact.base_url": "address",
    "fact.context_length": "context",
    "fact.template_hash": "template",
    "fact.weights_hash": "weights hash",
    "fact.weights_bytes": "weights",
    "fact.requests": "answered",
    "fact.errors": "errors",
    "answered": "{answered} of {asked} requests",
    "fact.hash": "hash",
    "fact.judge_endpoint": "endpoint",
    "fact.judge_label": "what it is",
    "fact.judge_model": "model",
    "fact.judge_rubric": "rubric",
    "fact.judge_mark": "mark of judge, rubric and sampling",
    "fact.judge_tasksets": "decided",
    "fact.judge_answers": "different answers judged",
    "fact.judge_agreement": "agreed with itself",
    "fact.judge_failures": "without a verdict, {endpoint}",
    "fact.judge_calibration": "calibration, {taskset}",
    "judge.none": "none",
    "judge.calibration": (
        "sensitivity {sensitivity}, specificity {specificity}, J = {youden}, {labels} labels"
    ),
    "judge.uncalibrated": "none: nothing may be decided",
    "detail.judge": "Judge",
    "detail.policy": "Policy",
    "detail.sampling": "Sampling",
    "detail.settings": "Settings",
    "detail.timing": "Wall time",
    # Releases in a line
    "release.sentence": (
        "Compared against {endpoint} of {folder} ({verdict}, {date}), {why}.",
        "Compared against {endpoint} of {folder} ({date}), {why}.",
    ),
    "release.chosen.named": "the {role} there, as was asked for",
    "release.chosen.recommended": "which was recommended there",
    "release.chosen.kept": "the baseline there, since no candidate was recommended",
    "release.chosen.run": "a recorded run",
    "release.role.baseline": "baseline",
    "release.role.candidate": "candidate",
    "release.role.run": "run",
    "release.rescored": (
        "{taskset} had been scored by {then}: the stored answers were scored again by {now}."
    ),
    "release.policy": "The policy of that release decides, since no other was given.",
    "change": ("{candidate}: {what} ({detail}).", "{candidate}: {what}."),
    "change.same.same": "same weights, same engine: nothing is new",
    "change.same.new": "same weights, new engine",
    "change.same.unknown": "same weights; whether the engine is new is not told",
    "change.new.same": "new weights, same engine",
    "change.new.new": "new weights and new engine",
    "change.new.unknown": "new weights; whether the engine is new is not told",
    "change.unknown.same": "same engine; whether the weights are new is not told",
    "change.unknown.new": "new engine; whether the weights are new is not told",
    "change.unknown.unknown": "whether weights or engine are new is not told",
    "rollback": (
        "Rollback target: {endpoint} of {folder} ({verdict}, {date}): {label}.",
        "Rollback target: {endpoint} of {folder} ({date}, not judged): {label}.",
    ),
    "rollback.none": "No earlier release with SHIP is known: there is nothing to go back to.",
    "fact.engine_version": "engine version",
    "fact.tokenizer_hash": "tokenizer",
    "fact.rendering_hash": "rendered conversation",
    "fact.request_hash": "request",
    "fact.command_hash": "command",
    "fact.hardware": "hardware",
    "fact.n_params": "parameters",
    "fact.size": "size",
    # Memory
    "capacity.title": "Memory of {model}",
    "capacity.needed": "Needed: {names}.",
    "capacity.sentences": " ",
    "capacity.groups": "{name}, groups of {size}",
    "capacity.blocks": "{name}, blocks of {size}",
    "capacity.fits": "Fits in {device}: {names}.",
    "capacity.fits_less": (
        "Fits in {device} only with a shorter context or fewer sequences: {names}."
    ),
    "capacity.fits_not": "Does not fit at all: {names}.",
    "capacity.none": "Nothing fits in {device}: {names}.",
    "capacity.named": "{name} ({size})",
    "capacity.join": ", ",
    "capacity.device": "device: {size}",
    "capacity.work": (
        "Sequences at once: {concurrency}, each of {context} tokens; KV cache in {kv}; {headroom} "
        "of the device stays free."
    ),
    "capacity.what": "Part",
    "capacity.caption": "Memory by quantization",
    "capacity.layout": "layout of linear layers",
    "capacity.bits": "bits a parameter",
    "capacity.part.weights": "weights",
    "capacity.part.repacked": "repacked weights",
    "capacity.part.kv_cache": "KV cache",
    "capacity.part.draft_weights": "draft weights",
    "capacity.part.draft_kv_cache": "draft KV cache",
    "capacity.part.activations": "activations",
    "capacity.part.reserve": "runtime reserve",
    "capacity.part.headroom": "headroom",
    "capacity.total": "needed",
    "capacity.fit": "fits",
    "capacity.yes": "✓ fits",
    "capacity.less": "✗ only with less",
    "capacity.no": "✗ not at all",
    "capacity.longest": "longest context at {concurrency} at once",
    "capacity.most": "most sequences of {context} tokens",
    "capacity.read": "weights read for a token",
    "capacity.checkpoint": "weights as a file",
    "capacity.rooms": "Longest context that fits in {device}, by sequences at once",
    "capacity.sequences": "sequences at once",
    "capacity.at_limit": "{context} (model's limit)",
    "capacity.parts": "Parameters by part",
    "capacity.fact.architecture": "architecture",
    "capacity.fact.engine": "engine",
    "capacity.fact.parameters": "parameters",
    "capacity.fact.active": "active for a token",
    "capacity.fact.layers": "layers that keep a cache or a state",
    "capacity.fact.kv_token": "KV cache of a further token",
    "capacity.fact.kv_sequence": "KV cache of a sequence",
    "capacity.fact.limit": "the model's longest context",
    "capacity.fact.draft": "draft",
    "capacity.layers.full": "{count} full",
    "capacity.layers.sliding": "{count} sliding over {window} tokens",
    "capacity.layers.latent": "{count} latent (MLA)",
    "capacity.layers.linear": "{count} linear, with a state of fixed size",
    "capacity.of.embedding": "embedding",
    "capacity.of.head": "output head",
    "capacity.of.attention": "attention",
    "capacity.of.feed_forward": "feed-forward",
    "capacity.of.experts": "routed experts",
    "capacity.of.shared_experts": "shared experts",
    "capacity.of.router": "routers",
    "capacity.of.norms": "norms and biases",
    "capacity.of.mtp": "MTP head (loaded only with --draft mtp)",
    "capacity.of.vision": "vision encoder",
    "capacity.note.assumed": "{where} does not say, so the architecture's default holds: {fields}.",
    "capacity.note.stored": "As stored: {layout}, read from quantization_config.",
    "capacity.note.vision": "The vision encoder stays at 16 bits and is loaded.",
    "capacity.note.vision_unknown": (
        "The vision encoder ({kind}) is NOT counted: its structure is not known here."
    ),
    "capacity.note.mtp": (
        "The model has an MTP head ({count}); it takes memory only with --draft mtp."
    ),
    "capacity.note.window": (
        "Sliding layers keep their window only. An engine without a hybrid KV cache keeps the "
        "whole sequence there too."
    ),
    "capacity.note.latent": "The latent cache holds the compressed vector and the rotary key.",
    "capacity.note.indexer": (
        "Each layer also keeps the indexer's key of each token, at the precision of the cache."
    ),
    "capacity.note.state": (
        "Linear layers keep a state of fixed size, float32, and a 16-bit convolution window."
    ),
    "capacity.note.no_limit": "The file does not say the longest context that the model takes.",
    "capacity.note.beyond_limit": (
        "{context} tokens are more than the {limit} that the model is made for."
    ),
    "capacity.note.kv_declared": (
        "The checkpoint is calibrated for a KV cache in {declared}; counted is {kv}."
    ),
    "capacity.note.experts": (
        "All experts are resident, whichever a token uses; active ones decide speed, not memory."
    ),
    "capacity.note.tied": "The embedding is the output head too, and is held once.",
    "capacity.note.draft": "The draft {draft} is held as {layout}, with a KV cache of its own.",
    "capacity.note.repacked": (
        "llama.cpp on a CPU lays these matrices out anew and holds them twice; on a GPU it "
        "does not."
    ),
    "capacity.note.engine_vllm": (
        "Prefill in steps of {tokens} tokens with 16-bit activations and float32 logits; the "
        "reserve stands for the CUDA context, libraries and captured graphs."
    ),
    "capacity.note.engine_llama": (
        "Prefill in steps of {tokens} tokens with 32-bit activations and float32 logits; the "
        "reserve is that of the process on a CPU."
    ),
    "capacity.note.kept": (
        "Embedding, output head, norms, biases and routers, vision encoder and MTP head stay at "
        "16 bits in a format that is named; GGUF formats quantize embedding and head too."
    ),
    "capacity.note.units": "1 GB is 10⁹ bytes, 1 GiB is 2³⁰.",
    "capacity.note.headroom_low": "Less than 10% stays free; 10 to 20% are advised.",
    "capacity.note.one_device": "The device is one memory: nothing is split over several.",
    "ui.capacity": "Capacity",
    "ui.capacity_chart": "What it needs",
    "ui.capacity_rooms": "What fits",
    "ui.capacity_model": "The model",
    "ui.capacity_assumed": "What is assumed",
    "history.title": "Releases in {folder}",
    "history.lead": (
        "The newest of {n} results is {verdict}: {candidate} against {baseline}, {difference} "
        "points {interval} in accuracy ({date})."
    ),
    "history.also": "{candidate}: {verdict}, {difference} points {interval}.",
    "history.unread": "{folder} is left out: {reason}",
    "history.chart": "{metric}: difference to the baseline, in points",
    "history.chart.text": (
        "{metric} over {n} results, the oldest first; the line is broken where prompts, policy "
        "or scorers changed. The same numbers stand in the table."
    ),
    "history.margin": "margin",
    "history.point": "{date}, {candidate} against {baseline}: {difference} {interval}, {verdict}",
    "history.broken": "{folder} ({date}) does not continue the line: {what}.",
    "break": "{group} {name} {before} → {after}",
    "break.prompts": "prompts",
    "break.policy": "policy",
    "break.scorer": "scorer",
    "break.sampling": "sampling",
    "break.settings": "settings",
    "break.more": "{n} more",
    "history.back": "{endpoint} of {folder}",
    "ui.release": "Against an earlier release",
    "ui.rollback": "Rollback target",
    "ui.changed_field": "What differs",
    "ui.before": "before",
    "ui.after": "after",
    "ui.whole_report": "Kept in",
    "ui.history": "Line of releases",
    "ui.history_points": "Every result",
    "ui.history_breaks": "Where the line is broken",
    "ui.history_unread": "Left out",
    "ui.history_order": (
        "The results stand in the order of their dates, at equal distances. Bars are 95% intervals."
    ),
    "ui.date": "Date",
    "ui.folder": "Folder",
    "ui.new_since": "New since the one before",
    # Methods
    "method.paired.name": "Paired difference",
    "method.paired": (
        "Both endpoints get the same prompts; each pair of answers counts once. The interval "
        "is Tango's score interval for the difference of two paired proportions, and "
        "non-inferiority is the matching one-sided score test at 5% against the margin that "
        "was fixed before the run. The gate reads the 90% interval; tables print the 95% one. "
        "Tango, Statistics in Medicine 17:891 (1998)."
    ),
    "method.pooled.name": "All families together",
    "method.pooled": (
        "Families are averaged with equal weight. The interval combines the families' own "
        "intervals by the method of variance estimates recovery (MOVER). "
        "Newcombe, Statistics in Medicine 17:2635 (1998)."
    ),
    "method.recovery.name": "Recovery",
    "method.recovery": (
        "Candidate accuracy divided by baseline accuracy, with the paired score interval of "
        "the ratio. It is shown for orientation and is never evidence of improvement; there "
        "is no ratio below 10% baseline accuracy or 30 correct baseline answers. "
        "Nam & Blackwelder, Statistics in Medicine 21:689 (2002); "
        "Tang et al., Statistics in Medicine 22:1217 (2003)."
    ),
    "method.rates.name": "Rates",
    "method.rates": (
        "Rates of one endpoint carry Wilson's score interval. Wilson, JASA 22:209 (1927)."
    ),
    "method.flips.name": "Flips",
    "method.flips": (
        "A regression is right before and wrong now, an improvement the reverse. The McNemar "
        "mid-p test asks whether the two counts differ by more than chance; it says nothing "
        "about a margin and does not gate. "
        "Fagerland et al., BMC Medical Research Methodology 13:91 (2013)."
    ),
    "method.decision.name": "Decision",
    "method.decision": (
        "SHIP needs non-inferiority in every gated metric (intersection-union test, Berger, "
        "Technometrics 24:295, 1982). HOLD needs damage beyond a margin that survives Holm's "
        "correction over all metrics (Holm, Scandinavian Journal of Statistics 6:65, 1979). "
        "Anything else is INCONCLUSIVE: no significant difference is not the same as no "
        "difference. INVALID means that the two runs cannot be compared."
    ),
    "method.hallucination.name": "Hallucination",
    "method.hallucination": (
        "The share of answers that assert something false where abstaining was possible, "
        "I / n, printed beside the abstention rate and beside I / (C + I), because a model "
        "can trade one for the other. C correct, I incorrect, N abstained: "
        "Wei et al., arXiv 2411.04368 (2024)."
    ),
    "method.missing.name": "Missing answers",
    "method.missing": (
        "A request without an answer is missing, not wrong. SHIP must also hold when every "
        "missing answer counts against the candidate. Answers that are cut off, empty, "
        "looping or unreadable are the model's own doing and count as not correct."
    ),
    # Fixed words of pages
    "ui.report": "Quantization release gate",
    "ui.recommendation": "Recommendation",
    "ui.candidates": "Candidates",
    "ui.baseline": "Baseline",
    "ui.candidate": "Candidate",
    "ui.verdict": "Verdict",
    "ui.annotations_left": "further findings: see the summary of this step, and the report.",
    "ui.cut": "The rest is left out here: the whole is in the report.",
    "ui.reasons": "Why",
    "ui.same_table": "The same numbers as a table",
    "ui.hallucination": "Hallucination beside abstention",
    "ui.hallucinated_share": "hallucinated, I\u00a0/\u00a0n",
    "ui.abstained_share": "abstained, N\u00a0/\u00a0n",
    "ui.attempted_share": "of attempts, I\u00a0/\u00a0(C\u00a0+\u00a0I)",
    "ui.hallucination_none": "Not measured: no prompt here let the model abstain.",
    "ui.endpoint": "endpoint",
    "ui.change_paired": "paired change",
    "ui.threats": "Could this be wrong?",
    "ui.gains": "What is gained",
    "ui.gains_none": "Not measured in this run.",
    "ui.change": "change",
    "ui.provenance": "Provenance",
    "ui.families": "Families",
    "ui.family": "Family",
    "ui.pairs": "Pairs",
    "ui.accuracy": "accuracy",
    "ui.difference": "Difference, points [95%\u00a0CI]",
    "ui.recovery": "Recovery [95%\u00a0CI]",
    "ui.over_all": "over all answers",
    "ui.flips": "Regressions : improvements",
    "ui.hallucination_col": "Hallucination",
    "ui.abstention_col": "Abstention",
    "ui.attempted_col": "I / (C + I)",
    "ui.state": "Reads as",
    "ui.metrics": "Every metric and its test",
    "ui.metric": "Metric",
    "ui.margin": "Margin (points)",
    "ui.p_noninferior": "Non-inferior",
    "ui.p_degraded": "Degraded (Holm)",
    "ui.transitions": "From outcome to outcome",
    "ui.transitions_lead": (
        "Incorrect is hallucinated: something false was asserted where abstaining was possible. "
        "The same outcome on both sides stands on the diagonal."
    ),
    "ui.outcomes": "Outcomes and flags",
    "ui.regressions": "Regressions",
    "ui.regressions_lead": "Right with the baseline, wrong with the candidate.",
    "ui.improvements": "Improvements",
    "ui.improvements_lead": "Wrong with the baseline, right with the candidate.",
    "ui.not_measured": "not measured",
    "ui.none_found": "None.",
    "ui.show_others": "Show the others",
    "ui.show_all": "Show all",
    "ui.prompt": "Prompt",
    "ui.target": "Target",
    "ui.extracted": "extracted",
    "ui.reasoning": "Reasoning",
    "ui.cause": "cause",
    "ui.needed": "Prompts needed for a decision",
    "ui.needed_lead": (
        "For 80% power at a one-sided 5%. A second look at grown data needs the two-stage "
        "rule; plain retesting would inflate the error."
    ),
    "ui.needed_floor": "floor (no answer changes)",
    "ui.needed_equal": "if equally good",
    "ui.needed_observed": "at the difference seen",
    "ui.needed_more": "prompts to add",
    "ui.methods": "Methods",
    "ui.details": "Run details",
    "ui.notes": "Notes",
    "ui.skipped": "Left out",
    "ui.endpoints": "Endpoints",
    "ui.tasksets": "Tasksets",
    "ui.legend_gated": "gated",
    "ui.legend_alarm": "alarm only: too few pairs for a claim",
    "ui.legend_pooled": "all families, equal weight",
    "ui.legend_bars": "thick 90%, thin 95% interval",
    "ui.skip_link": "Skip to the verdict",
    "ui.offline": "Works offline; nothing is loaded from anywhere.",
    # Remedies
    "remedy.RAISE_MAX_TOKENS": (
        "Raise max_tokens and run again: {baseline_n} answers of {baseline} and {candidate_n} of "
        "{candidate} were cut off ({regressions} of the regressions).",
        "Raise max_tokens and run again.",
    ),
    "remedy.CHECK_TEMPLATE": (
        "Check chat template and stop strings of {candidate}: answers flagged {flags}.",
        "Check chat template and stop strings of {candidate}: empty, looping or unreadable "
        "answers went from {baseline_n} to {candidate_n} of {n}.",
        "Check chat template and stop strings of {candidate}.",
    ),
    "remedy.RERUN_MISSING": (
        "Run the same command again, which asks what has no answer: {baseline} left {baseline_n} "
        "and {candidate} {candidate_n} of {n} without an answer ({reasons}). To ask: {prompts}.",
        "Run the same command again, which asks what has no answer: {baseline} left {baseline_n} "
        "and {candidate} {candidate_n} of {n} without an answer ({reasons}).",
        "Run the same command again, which asks what has no answer: {baseline} left {baseline_n} "
        "and {candidate} {candidate_n} of {n} without an answer.",
        "Run the same command again, which asks what has no answer.",
    ),
    "remedy.ROUTE_FAMILIES": (
        "Route by family: {candidate} for {families}, {baseline} for {kept}. This mix is itself "
        "non-inferior (accuracy {difference} points, 95% CI {low} to {high}, margin {margin}). "
        "It was chosen after the answers were seen: confirm it on fresh prompts.",
        "Route by family: {candidate} for {families}, {baseline} for {kept}.",
    ),
    "remedy.ROUTE_UNPROVEN": (
        "Routing by family is not proven: {candidate} for {families} and {baseline} for {kept} "
        "is not shown to be non-inferior in every pooled metric (accuracy {difference} points, "
        "95% CI {low} to {high}, margin {margin}, {n} pairs).",
        "Routing by family cannot be offered: no family is by itself shown to be non-inferior, "
        "after correction for choosing among them.",
    ),
    "remedy.LOWER_TEMPERATURE": (
        "Try a temperature below {temperature} for both: {regressions} regressions stand against "
        "{improvements} improvements.",
        "Try a lower temperature.",
    ),
    "remedy.CURB_LOOPS": (
        "Curb loops with the sampling that the model's authors recommend: looping answers rose "
        "from {baseline_n} to {candidate_n} at temperature {temperature}.",
        "Curb loops with the sampling that the model's authors recommend.",
    ),
    "remedy.ADD_RETRIEVAL": (
        "Give the model the facts by retrieval: {metric} in {families} changed by {difference} "
        "points (95% CI {low} to {high}, {n} pairs), mostly through wrong answers, not broken "
        "ones.",
        "Give the model the facts by retrieval.",
    ),
    "remedy.MIXED_PRECISION": (
        "Keep sensitive layers at a higher precision (mixed precision), or serve a larger model "
        "at low bits: {families} are degraded alike ({regressions} regressions against "
        "{improvements} improvements).",
        "Keep sensitive layers at a higher precision, or serve a larger model at low bits.",
    ),
    "remedy.COMPARE_ANEW": (
        "Compare anew on about {anew} prompts, none of them asked here, in another folder: {most} "
        "has {n} pairs, and this plan has no further look. A plan with two stages, or a "
        "sequential one, has to be declared before the run.",
        "Compare anew on more prompts, in another folder.",
    ),
    "remedy.ASK_STAGE_2": (
        "Ask stage 2 of the plan, about {more} prompts that were not asked yet: the same command "
        "with --stage-2 {each}.",
        "Ask stage 2 of the plan.",
    ),
    "remedy.ASK_ON": (
        "Ask about {more} more prompts: the same command with a larger --limit. {most} has {n} "
        "pairs so far, and this plan allows every look.",
        "Ask more prompts.",
    ),
    "remedy.more_ids": "{prompts} and {k} more",
    "remedy.other": "{code}",
    # Marks of reviewers, in a served page
    "marking.score": "Score is wrong…",
    "marking.prompt": "Prompt is bad…",
    "marking.outcome": "The answer is",
    "marking.correct": "correct",
    "marking.incorrect": "incorrect",
    "marking.abstained": "an abstention",
    "marking.is_bad": "prompt is bad",
    "marking.reason": "Reason",
    "marking.reviewer": "Your name",
    "marking.save": "Save mark",
    "marking.cancel": "Cancel",
    "marking.withdraw": "Take back…",
    "marking.incomplete": "A mark needs a reason and a name.",
    "marking.unsaved": "Not saved.",
    "marking.unread": "The marks cannot be read.",
    "marking.count": "$n marks stand in review.jsonl.",
    "marking.none": "No mark stands in review.jsonl.",
    "marking.one": "One mark stands in review.jsonl.",
    "marking.again": "Show the verdict with them",
    # Review
    "ui.review": "Reviewed by people",
    "ui.review_lead": (
        "People who mark have seen the result: the verdict before gates, and marks can only take "
        "a SHIP away."
    ),
    "review.before": "before",
    "review.after": "after adjudication",
    "review.lead": "{applied} of {n} marks change a score or take a prompt out.",
    "review.one_sided": "All of them help {arm}.",
    "table.marks": "Marks, the oldest first",
    "mark.prompt": "bad prompt",
    "mark.score": "{arm}: {before} → {after}",
    "mark.score_unknown": "{arm}: → {after}",
    "mark.applied": "applied",
    "mark.unchanged": "scored so already",
    "mark.stale": "another answer now",
    "mark.withdrawn": "taken back",
    "col.side": "Adjudication",
    "col.hallucination": "Hallucination, points [95%\u00a0CI]",
    "col.sample": "Sample",
    "col.mark": "Mark",
    "col.effect": "Effect",
    "col.favours": "Helps",
    "col.reviewer": "Reviewer",
    "col.why": "Reason",
    "col.when": "Made",
    # Length curves
    "lengths.prompt_length": "Length of the prompt",
    "lengths.output_length": "Length of the baseline's answer",
    "lengths.tokens": "{title}, tokens",
    "lengths.axis": "paired difference, points (band: 95%\u00a0CI)",
    "lengths.description": "Paired difference in accuracy by length. {told}.",
    # Slices
    "slice.family": "family",
    "slice.category": "category",
    "slice.language": "language",
    "slice.prompt_length": "prompt length",
    "slice.output_length": "length of the baseline's answer",
    "slice.difficulty": "difficulty",
    "slice_value.category": "{family}: {value}",
    "slice_value.tokens": "{value} tokens",
    "prompt_length.short": "short",
    "prompt_length.medium": "medium",
    "prompt_length.long": "long",
    "difficulty.easy": "easy",
    "difficulty.medium": "medium",
    "difficulty.hard": "hard",
    "slice.flagged": "worse here",
    "slice.unflagged": "not flagged",
    "slice.line": (
        "{dimension} {value}: {difference} points {interval}, {n} pairs, regressions : "
        "improvements {flips}"
    ),
    "slices.found": (
        "{flagged} of {tested} slices are worse than zero and worse than the rest "
        "(false discovery rate 10%)."
    ),
    "slices.none": (
        "None of {tested} slices is worse than zero and worse than the rest (false discovery "
        "rate 10%)."
    ),
    "slices.untested": "No slice has enough pairs to be tested.",
    "slices.too_few": "Too few pairs for a test, here or in the rest: {names}.",
    "slices.join": ", ",
    "table.slices": "All slices that were tested",
    "table.flagged": "Slices that are worse",
    "col.length": "Length",
    "col.slice": "Slice",
    "col.dimension": "Cut by",
    "col.pairs": "Pairs",
    "col.difference": "Difference, points [95%\u00a0CI]",
    "col.shrunken": "Shrunken",
    "col.flips": "Regressions : improvements",
    "col.adjusted": "Worse (BH)",
    "col.state": "Reads as",
    "method.slices.name": "Slices",
    "method.slices": (
        "Only cuts that were fixed beforehand are looked at. A slice is tested one-sided for a "
        "loss below zero and below the rest of the prompts; the larger p-value counts, after "
        "Benjamini & Hochberg, JRSS-B 57:289 (1995), at 10% over all slices. The shrunken "
        "difference is drawn toward the mean as far as its noise asks for: Efron & Morris, "
        "JASA 70:311 (1975), with the variance of DerSimonian & Kacker, Contemporary Clinical "
        "Trials 28:105 (2007). Slices explain, they do not gate."
    ),
    "ui.remedies": "What to do, in this order",
    "ui.lengths": "Over length",
    "ui.lengths_lead": (
        "Does it fall back on long prompts, or in long answers? Described, not tested: a length "
        "goes with family and difficulty. A hollow dot stands for fewer than 10 pairs."
    ),
    "ui.as_table": "As a table",
    "ui.slices": "Slices",
    # Policies side by side, and missing answers
    "ui.policies": "More than one policy",
    "ui.policies_lead": (
        "The policy that was fixed before the run gates. Another one can only take a SHIP away."
    ),
    "policy.declared": "before the run, by {arms}",
    "policy.later": "after the run",
    "policy.unknown": "its numbers are not known",
    "policy.gates": " (gates)",
    "ui.missing": "What missing answers could do",
    "ui.missing_lead": (
        "The difference with its 90% interval, which the test reads: on complete pairs, with "
        "every missing answer counted against the candidate, as a failure of either arm alike "
        "(does not gate), and for the candidate. Last, the fewest missing answers of the "
        "candidate that must be wrong to lose non-inferiority."
    ),
    "col.policy": "Policy",
    "col.fixed": "Fixed",
    "col.verdict": "Verdict",
    "col.changes": "Changed numbers",
    "col.metric": "Metric",
    "col.missing": "Missing",
    "col.complete": "Complete pairs",
    "col.worst": "Worst case",
    "col.itt": "As failures",
    "col.best": "Best case",
    "col.tipping": "Tipping point",
    "plan.single": "one look",
    "plan.two-stage": "two stages",
    "plan.sequential": "sequential",
    "method.plans.name": "Looks",
    "method.plans": (
        "The plan of looks is fixed before the run, and a ledger in the comparison's folder "
        "counts them. One look reads the score test. Two stages pass a metric at once only on "
        "p ≤ a tenth of the level, else on both stages together, the second on new prompts "
        "alone, with equal weights (inverse normal combination: Bauer & Köhne, Biometrics "
        "50:1029, 1994; Cui, Hung & Wang, Biometrics 55:853, 1999); intervals then describe all "
        "pairs together. A sequential plan bets (Waudby-Smith & Ramdas, JRSS-B 86:1, 2024): "
        "its p-values and intervals hold at every look at once. Where a model judges, margins "
        "shrink by J = sensitivity + specificity − 1 and the calibration's own error is added "
        "(Rogan & Gladen, American Journal of Epidemiology 107:71, 1978)."
    ),
    # Performance
    "gains.by_product": "By-product of this run, not a benchmark.",
    "gains.measured": (
        "Probe of these very builds, {where} unless said; changes: medians of paired rounds, "
        "95%\u00a0CI."
    ),
    "spec.of_group": " ({group})",
    "spec.comma": ", ",
    "spec.stop": "; ",
    "spec.table.routes": "Which requests should speculate{group}",
    "spec.table.findings": "What speculation does{group}",
    "spec.table.acceptance": (
        "Drafted tokens that were accepted{group}: share [95%\u00a0CI over prompts]; by place: "
        "share of drafts whose token there was accepted"
    ),
    "spec.table.alone": (
        "One request at a time{group}: on ÷ off, paired by prompt [95%\u00a0CI, bootstrap], and "
        "medians"
    ),
    "spec.table.loads": (
        "Mixed work under load{group}: throughput on ÷ off, paired by round "
        "[95%\u00a0CI, bootstrap]"
    ),
    "spec.table.contexts": "Time to first token by length of the prompt{group}: on ÷ off",
    "spec.col.case": "Requests",
    "spec.col.choice": "Use",
    "spec.col.why": "Because",
    "spec.col.arm": "Part",
    "spec.col.what": "What",
    "spec.col.finding": "Finding",
    "spec.col.work": "Kind of work",
    "spec.col.rate": "Accepted",
    "spec.col.places": "By place in the draft",
    "spec.col.a_step": "Tokens a step",
    "spec.col.drafted": "Drafted tokens",
    "spec.col.source": "Read from",
    "spec.col.decode_ratio": "Decode ÷ off",
    "spec.col.ttft_ratio": "Time to first token ÷ off",
    "spec.col.decode": "Decode, tok/s",
    "spec.col.ttft": "Time to first token",
    "spec.col.answered": "Answered",
    "spec.col.load": "Load",
    "spec.col.throughput_ratio": "Throughput ÷ off",
    "spec.col.throughput": "Throughput, tok/s",
    "spec.col.prompt": "Prompt",
    "spec.source.metrics": "the server's metrics",
    "spec.source.timings": "timings in the answers",
    "spec.lifetime": "{label}: before this probe",
    "spec.in_flight": "{label}: {level} in flight",
    "spec.at_tokens": "{label}: {tokens} tokens",
    "spec.case.interactive": "Interactive, one at a time",
    "spec.case.long_prompt_short_answer": "Long prompt, short answer",
    "spec.case.batch": "Batch: many at once",
    "spec.case.short_reasoning": "Short reasoning",
    "spec.case.code_review": "Code review",
    "spec.case.long_output": "Long output",
    "spec.case.tool_results": "Reading tool results",
    "spec.case.long_input": "Long input",
    "spec.case.templated_code": "Templated code",
    "spec.metric.decode": "decode speed",
    "spec.metric.answer": "time to the end of {tokens} tokens",
    "spec.metric.throughput": "throughput",
    "spec.why.faster": "{metric} ÷ off: {ratios}; {choice} is shown to be better",
    "spec.why.deeper": "{metric} ÷ off: {ratios}; {choice} is shown to be better",
    "spec.why.deeper.ratio": "the deeper draft is better than the shallower: {ratio}",
    "spec.why.not_deeper.ratio": "a deeper draft is not shown to be better: {ratio}",
    "spec.why.one_depth": "no other depth was measured",
    "spec.why.slower": "{metric} ÷ off: {ratios}; speculation is worse",
    "spec.why.unclear": "{metric} ÷ off: {ratios}; no gain is shown, so the simpler one",
    "spec.why.careful": "{metric} ÷ off: {ratios}; no gain shown where the prompt takes the time",
    "spec.why.few": "{metric} ÷ off: {ratios}; too few pairs to say (six are the fewest)",
    "spec.why.not_measured": "not measured",
    "spec.why.ttft": "time to first token ÷ off: {ratios}",
    "spec.why.acceptance": "accepted: {rates}",
    "spec.why.where": "{why} {where}",
    "spec.where.context": "({context} tokens, {level} in flight)",
    "spec.where.level": "({level} in flight)",
    "spec.what.crossover": "Crossover under load",
    "spec.what.equality": "Texts at temperature 0",
    "spec.what.memory": "Memory added",
    "spec.what.quality": "Quality, paired",
    "spec.memory": "{size} ({source})",
    "spec.crossover.between": (
        "Faster up to {faster} in flight, slower from {slower} on; equal at about {at}.",
        "Faster up to {faster} in flight, slower from {slower} on.",
    ),
    "spec.crossover.none": "No crossover measured: faster at every load up to {faster} in flight.",
    "spec.crossover.always_slower": "Slower at every measured load, from {slower} in flight on.",
    "spec.crossover.unclear": "No crossover measured: no load shows a clear difference throughout.",
    "spec.crossover.unclear.faster": (
        "No crossover measured: faster up to {faster} in flight, no clear picture above."
    ),
    "spec.crossover.unclear.slower": (
        "No crossover measured: slower from {slower} in flight on, no clear gain below."
    ),
    "spec.crossover.not_measured": "Not measured: that takes two loads of six rounds each.",
    "spec.equality.equal": "Equal to those without speculation in all {n}.",
    "spec.equality.beyond": (
        "Changed beyond the noise floor: {different} of {n}; without speculation asked twice "
        "{noise} of {n}; excess {excess} points. The first {agreement} of the text are equal "
        "(median of those that differ).",
        "Changed beyond the noise floor: {different} of {n}, and {noise} of {n} by itself.",
    ),
    "spec.equality.within": (
        "{different} of {n} differ, without speculation asked twice {noise} of {n}: not shown to "
        "go beyond the noise floor; excess {excess} points.",
        "{different} of {n} differ, and {noise} of {n} by itself.",
    ),
    "spec.equality.not_measured": "Not measured.",
    "ui.performance": "Performance",
    "perf.lead": (
        "Measured on {date}: {repeats} rounds a point in turns, answers of {tokens} tokens, "
        "tokens as the server counts them. p50 [95%\u00a0CI]; a dash where the data give no "
        "bound."
    ),
    "perf.where.closed": "{context} tokens, {level} in flight",
    "perf.where.open": "{context} tokens, {level} requests a second at random",
    "perf.table.served": "Throughput and failures.{slo}",
    "perf.at.context": ", {context} tokens",
    "perf.at.level": ", {level} in flight",
    "perf.col.verdict": "Verdict",
    "perf.col.accuracy": "Accuracy, points",
    "perf.col.front": "Pareto front",
    "perf.front.on": "on the front",
    "perf.table.front": "Quality against speed and memory ({where}; throughput at the top load)",
    "perf.per_second": "{rate}/s",
    "perf.target": " A good request keeps {target}.",
    "perf.join": "; ",
    "perf.other_build": (
        "performance.json is left out: it did not measure {endpoint} as it was compared here."
    ),
    "perf.metric.ttft": "Time to first token",
    "perf.metric.itl": "Inter-token latency",
    "perf.metric.tpot": "Time a token",
    "perf.metric.e2e": "End to end",
    "perf.metric.decode": "Decode",
    "perf.metric.prefill": "Prefill",
    "perf.metric.throughput": "Throughput",
    "perf.col.point": "Point",
    "perf.col.what": "Latency",
    "perf.col.round": "Round",
    "perf.col.ttft": "Time to first token",
    "perf.col.itl": "Inter-token latency",
    "perf.col.decode": "Decode, tok/s",
    "perf.col.prefill": "Prefill, tok/s",
    "perf.col.e2e": "End to end",
    "perf.col.throughput": "Throughput, tok/s",
    "perf.col.requests": "Requests/s",
    "perf.col.answered": "Answered",
    "perf.col.goodput": "Goodput",
    "perf.col.cost": "Cost of a million tokens",
    "perf.col.arm": "Endpoint",
    "perf.col.peak": "Peak memory",
    "perf.col.source": "Read from",
    "perf.col.processes": "Processes",
    "perf.table.ratios": (
        "Candidate ÷ {baseline}: median of paired rounds [95%\u00a0CI, bootstrap]"
    ),
    "perf.table.medians": "Medians [95%\u00a0CI]",
    "perf.table.tails": "Latencies: p50, p90, p95, p99 [95%\u00a0CI]",
    "perf.table.rounds": "First rounds that were outliers, and the rounds that count instead",
    "perf.table.memory": "Peak memory",
    "perf.round.first": "first measure",
    "perf.round.again": "measured again",
    "perf.memory.processes": "resident memory of the server's processes",
    "perf.memory.growth": "growth of the process that holds the engine",
    "perf.memory.metrics": "the server's own metrics",
    "perf.memory.nvidia-smi": "nvidia-smi",
    "perf.bought.decode": "{ratio} the decode speed{where}",
    "perf.bought.ttft": "{ratio} the time to first token{where}",
    "perf.bought.throughput": "{ratio} the throughput{where}",
    "perf.bought.memory": "{ratio} the peak memory",
    "perf.trade": (
        "{candidate} against the baseline buys {gains}; the price: {price}.{same}",
        "{candidate} against the baseline buys {gains}.{same}",
    ),
    "perf.trade.nothing": (
        "{candidate} against the baseline: nothing measured is gained; the price: {price}.{same}",
        "{candidate} against the baseline: nothing measured is gained.{same}",
    ),
    "perf.same": " Not clearly different: {facts}.",
    "perf.price": "accuracy {difference} points {interval}",
    "perf.bought.cost": "{ratio} the cost of a token{where}",
    "perf.bought.weights": "{ratio} the size of the weights",
    "perf.bought.needed": "{ratio} the memory that it needs by the plan",
    "gains.counted": "Needed memory: counted by a capacity plan.",
    "fits.row": "Needs, {context} tokens × {concurrency}",
    "fits.row.device": "Fits one {device} device",
    "fits.yes": "✓ yes",
    "fits.no": "✗ no",
    "fits.gained": (
        "it fits one {device} device with {context} tokens × {concurrency}, the baseline does not"
    ),
    "fits.lost": (
        "it does not fit one {device} device with {context} tokens × {concurrency}, the baseline "
        "does"
    ),
    "fits.both": "{needed} (both fit one {device} device with {context} tokens × {concurrency})",
    "fits.neither": (
        "{needed} (neither fits one {device} device with {context} tokens × {concurrency})"
    ),
    "fits.alone.yes": (
        "it fits one {device} device with {context} tokens × {concurrency}; of the baseline "
        "nothing was counted"
    ),
    "fits.alone.no": (
        "it does not fit one {device} device with {context} tokens × {concurrency}; of the "
        "baseline nothing was counted"
    ),
    "fits.not": (
        "By the capacity plan {endpoint} does not fit one {device} device with {context} tokens × "
        "{concurrency}: it needs {needed}."
    ),
    "fits.AMBIGUOUS": (
        "capacity.json was left out for {endpoint}: its name and its quantization point at "
        "different formats ({names}). Say which with evalkit capacity --as."
    ),
    "fits.OTHER_SIZE": (
        "capacity.json was left out for {endpoint}: its weights are not of the size that was "
        "counted as {names}."
    ),
    "fits.UNMATCHED": (
        "capacity.json was left out: none of its formats ({names}) is that of an endpoint here. "
        "Say which with evalkit capacity --as."
    ),
    "perf.col.needed": "Memory needed",
    "perf.front.off": "beaten in everything by {names}",
    "perf.front.near": (
        "on the front by accuracy alone, which the intervals do not tell from {names}"
    ),
    "perf.remark.CAPPED": (
        "{asked} tokens were asked for; the endpoint holds {limit}, prompt and answer "
        "together, so {context} were measured."
    ),
    "perf.remark.LEFT_OUT": (
        "{asked} tokens are left out: the endpoint holds {limit}, and {context} stand for them."
    ),
    "perf.remark.NOT_INTERLEAVED": (
        "The servers were measured one after another, not in turns: drift of the machine is "
        "not cancelled."
    ),
    "perf.remark.SPECULATES_TOO": (
        "{endpoint} was named as the one without speculation, and yet it drafts tokens: nothing "
        "that is told against it holds."
    ),
    "perf.remark.NOTHING_DRAFTED": "{endpoint} counts drafted tokens, but drafted none here.",
    "perf.remark.NO_COUNTS": (
        "{endpoint} tells nothing of drafted tokens, neither in /metrics nor in its answers: "
        "there is no acceptance rate."
    ),
    "perf.remark.OTHER_TRAFFIC": (
        "{endpoint} answered somebody else too while prompts were asked ({prompts} of them); what "
        "its metrics counted then is left out."
    ),
    "perf.remark.SET_BACK": (
        "{endpoint}: its counters were set back while prompts were asked ({prompts} of them; a "
        "restart?); what they counted then is left out."
    ),
    "perf.remark.OMITTED": "{endpoint} refuses {fields}; its requests go without.",
    "perf.remark.ENDS_EARLY": (
        "{endpoint} takes no ignore_eos: answers may end before their full length."
    ),
    "perf.remark.SHORT_ANSWERS": "{endpoint} ended its answers after {tokens} of {asked} tokens.",
    "perf.remark.NO_USAGE": "{endpoint} counts no tokens of its answers: no rates are given.",
    "perf.remark.NO_ANSWER": "{endpoint} answered nothing that was measured.",
    "perf.remark.NOT_STREAMED": (
        "{endpoint} sent no text part by part: there is no time to first token and no decode speed."
    ),
    "perf.remark.IN_ONE_PIECE": (
        "{endpoint} gave answers in one piece (does a proxy hold the stream back?): there is no "
        "decode speed of them, and their time to first token is that of the whole answer."
    ),
    "perf.remark.MEASURED_AGAIN": (
        "{endpoint}, {context} tokens, load {load}: the first round was an outlier ({first}) "
        "and was measured again ({again}), which counts."
    ),
    "perf.remark.POINT_FAILED": "{endpoint}, {context} tokens, load {load}: no answer ({kinds}).",
    "perf.remark.UNSTEADY": (
        "{endpoint}, {context} tokens, load {load}: warm-up did not become steady."
    ),
    "perf.remark.OTHER_LENGTH": (
        "{endpoint}, load {load}: it counts {counted} tokens in prompts of {context}."
    ),
    "perf.remark.LATE": (
        "{endpoint}, {context} tokens, load {load}: a request left {late} late, which is "
        "part of its latency."
    ),
    "perf.remark.RESENT": (
        "{endpoint}: some requests found their connection closed and were sent again at once "
        "({n}); their clock ran on."
    ),
    "perf.remark.PREFIX_CACHE": "Prompts share their beginning on purpose: prefix caches help.",
    "perf.remark.NO_MEMORY": "The memory of {endpoint} cannot be read from here.",
    # Going live
    "golive.title": "Go-live checklist: {candidate} in place of {baseline}",
    "golive.draft": "DRAFT, NOT FOR RELEASE: the verdict is {state}.",
    "golive.before": "Before",
    "golive.canary": "Canary",
    "golive.watch": "Watch",
    "golive.back": "Way back",
    "golive.serve": "Serve exactly what was compared, {endpoint}: {identity}.",
    "golive.sampling": "Ask it as it was asked here: {sampling}.",
    "golive.fits": (
        "It fits: {needed} on one {device} device with {context} tokens × {concurrency}, by the "
        "capacity plan."
    ),
    "golive.fits_not": (
        "It does NOT fit: {needed} on one {device} device with {context} tokens × {concurrency}, "
        "by the capacity plan."
    ),
    "golive.no_capacity": (
        "Whether it fits: not counted. Do this: evalkit capacity MODEL --context N --concurrency N "
        "--device SIZE -o FOLDER."
    ),
    "golive.no_soak": "Hours under load: not measured. Do this: evalkit soak.",
    "golive.soak": "Hours under load: stable through {ran} (soak.json).",
    "golive.soak.open": (
        "Hours under load: nothing found in {ran}, too short to exclude: {names}. Soak longer."
    ),
    "golive.soak.bad": (
        "Hours under load: UNSTABLE within {ran}. Read the findings of evalkit soak before "
        "anything else."
    ),
    "golive.split": (
        "A loss of the margin ({margin} points from {accuracy}) is seen in 80% of cases once {n} "
        "graded requests of each side are in (two samples, one-sided 5%)."
    ),
    "golive.mirrored": (
        "With mirrored traffic, each request answered by both sides, {pairs} requests are enough "
        "(pairs that flip as often as here)."
    ),
    "golive.no_traffic": (
        "Share and duration: traffic not given. Do this: --traffic REQUESTS an hour that can be "
        "graded; it must bring {n} to the canary in {hours} hours."
    ),
    "golive.share": (
        "Send {share} of {traffic} requests an hour to it, for {hours} hours at least. At worst "
        "(upper end of the measured loss, {loss} points) that costs {wrong} right answers.",
        "Send {share} of {traffic} requests an hour to it, for {hours} hours at least.",
    ),
    "golive.no_canary": (
        "Size of the canary: cannot be told, since the baseline was right too seldom to lose the "
        "margin. Do this: compare on prompts that it can answer."
    ),
    "golive.no_rules": "Latency, throughput, memory and errors: no limits. {why}",
    "golive.rules": (
        "Load the rules of evalkit alerts before the first request; the limits are below."
    ),
    "golive.other_engine": (
        "The rules read metrics of {engine}, and {measured} was measured: --engine names another "
        "one.",
        "The rules read metrics of {engine}, and the endpoint does not tell its engine.",
    ),
    "golive.left.probe": "{what}: not measured. Do this: evalkit probe into this folder.",
    "golive.left.elsewhere": (
        "Memory: the server exports none. Alert above {limit} (measured peak with head-room) where "
        "another exporter tells it."
    ),
    "golive.left.acceptance": (
        "{what}: not measured. Where drafts are used, do this: --acceptance SHARE, as it was "
        "measured."
    ),
    "golive.widest": "Families that are known least (widest intervals): {families}.",
    "golive.family": "{family} {difference} points, {n} pairs",
    "golive.causes": "Regressions here were: {causes}. Read such answers first.",
    "golive.slices": "Slices that stood out: {slices}.",
    "golive.limits": "Limits: measured figures with {headroom} of head-room",
    "golive.col.what": "What",
    "golive.col.measured": "Measured",
    "golive.col.limit": "Alert at",
    "golive.col.hold": "For",
    "golive.col.from": "From",
    "golive.at": "probe: {context} tokens, load {level}",
    "golive.from.measured": "measured",
    "golive.from.given": "set, not measured",
    "golive.of.ttft": "Time to first token",
    "golive.of.itl": "Inter-token latency",
    "golive.of.decode": "Decode speed",
    "golive.of.prefill": "Prefill speed",
    "golive.of.throughput": "Throughput under load",
    "golive.of.memory": "Resident memory",
    "golive.of.kv_cache": "KV cache in use",
    "golive.of.preemptions": "Preemptions",
    "golive.of.errors": "Failed requests",
    "golive.of.restarts": "Restarts",
    "golive.of.acceptance": "Accepted drafts",
    "golive.target.earlier": (
        "Target: {endpoint}, the newest release that shipped before ({date}, {folder}): "
        "{identity}. Keep it loaded or ready to start."
    ),
    "golive.target.baseline": (
        "Target: {endpoint}, the baseline of this comparison (no earlier release is known; "
        "--history DIR looks for one): {identity}. Keep it loaded or ready to start."
    ),
    "golive.no_target": (
        "Target: none is known. Do this: name the folder of earlier comparisons with --history."
    ),
    "golive.trigger": (
        "Go back when, at {n} graded requests of each side, the canary is right {points} points "
        "less often than the other side, or more: equal sides do that in 5% of cases."
    ),
    "golive.degenerate": (
        "Go back when, of {n} answers, more than {most} are empty, looping or malformed: here "
        "{seen} were; even at the upper bound of that, {limit}, it happens in at most 5% of cases."
    ),
    "golive.critical": "Go back at once at any of these alerts: {rules}.",
    "golive.rehearse": "Try the way back once before the first request: note how long it takes.",
    "golive.footer": "evalkit {version} · comparison of {date}",
    "ui.golive": "Go-live checklist",
    "ui.golive_missing": "missing",
    "ui.soak": "Soak test",
    "ui.soak_findings": "What was found",
    "ui.soak_remarks": "To be known",
    "ui.soak_charts": "Over time",
    "ui.soak_settings": "How it was asked",
    "soak.state.stable": "STABLE",
    "soak.state.open": "NOTHING FOUND",
    "soak.state.unstable": "UNSTABLE",
    "soak.state.unmeasured": "NOT MEASURED",
    "soak.sentence.stable": (
        "{endpoint} stayed what it was through {ran} of load: {n} requests, {failed} failed; no "
        "leak, no slow-down, no restart, no changed answers were found."
    ),
    "soak.sentence.open": (
        "Nothing was found wrong with {endpoint} in {ran} of load: {n} requests, {failed} failed."
    ),
    "soak.sentence.unstable": (
        "{endpoint} did not stay what it was through {ran} of load ({n} requests): {findings}"
    ),
    "soak.sentence.unmeasured": (
        "Nothing can be said of {endpoint}: only {n} requests were answered in {ran}."
    ),
    "soak.open": "Too short to exclude: {names}. Soak longer.",
    "soak.finding.DOWN": "It went down after {began} and did not come back.",
    "soak.finding.OUTAGE": "It answered nothing from {began} to {ended}.",
    "soak.finding.RESTART": "It began anew at {at} ({signs}: {detail}).",
    "soak.finding.CHANGED": "It says something else of itself since {at}: {detail}.",
    "soak.finding.LEAK": (
        "Memory leaks ({name}): {slope} {interval} after the warm-up, {rise} in {span}."
    ),
    "soak.finding.SLOWER": (
        "It slows down ({name}): {slope} {interval} after the warm-up, {rise} in {span}, for "
        "answers of equal length."
    ),
    "soak.finding.FEWER": (
        "Throughput falls by {slope} {interval} after the warm-up, {rise} in {span}."
    ),
    "soak.finding.FAILURES": "{failed} of {n} requests failed: {share} {interval} ({kinds}).",
    "soak.finding.BURST": (
        "Failures came in a burst from {began} to {ended}: {failed} of {n} requests ({kinds}; "
        "{pvalue} against the rate of the rest)."
    ),
    "soak.finding.ANSWERS": (
        "Answers to a fixed prompt ({prompt}, temperature 0) became others at {at} ({pvalue} "
        "against their own noise): “{before}” → “{after}”."
    ),
    "soak.finding.UNMEASURED": "Only {n} requests were answered.",
    "soak.remark.RESUMED": "It was interrupted at {at} and gone on with; the pause is left out.",
    "soak.remark.SKIPPED": (
        "{n} arrivals were left out because all places were taken: it cannot keep up with the "
        "rate at this concurrency."
    ),
    "soak.remark.NO_MEMORY": (
        "Its memory cannot be read from here: the server is on another machine and shows no "
        "process_resident_memory_bytes at /metrics. Leaks cannot be found."
    ),
    "soak.remark.SHARED_PROCESS": "The engine shares evalkit's process: the memory is of both.",
    "soak.remark.SHORTER": "It ran for {ran} of {asked}.",
    "soak.remark.OPEN": "{name}: {slope} {interval}. {ran} do not exclude the limit of {limit}.",
    "soak.remark.SETTLING": (
        "{name} still rises, more and more slowly, as caches do: {slope} {interval}. Only a "
        "longer soak tells whether it comes to rest."
    ),
    "soak.remark.UNKNOWN": "{name}: too few measurements for a trend.",
    "soak.name.memory.processes": "memory of its processes",
    "soak.name.memory.growth": "evalkit's own memory, engine included",
    "soak.name.memory.gpu": "memory on the GPU",
    "soak.name.memory.metrics": "memory by its own metrics",
    "soak.name.latency": "time to the end",
    "soak.name.first_token": "time to the first token",
    "soak.name.throughput": "throughput",
    "soak.trend.found": "✗ proven and above the limit",
    "soak.trend.settling": "! rises more and more slowly",
    "soak.trend.open": "! not excluded yet",
    "soak.trend.steady": "✓ below the limit",
    "soak.trend.unknown": "– too few measurements",
    "soak.sign.process": "another process",
    "soak.sign.launch": "the server ended",
    "soak.sign.start_time": "another start time",
    "soak.sign.counters": "counters fell",
    "soak.sign.identity": "another identity",
    "soak.col.what": "Figure",
    "soak.col.slope": "Growth",
    "soak.col.limit": "Limit",
    "soak.col.level": "Level at first",
    "soak.col.rise": "Rise",
    "soak.col.counted": "Counted",
    "soak.col.verdict": "Verdict",
    "soak.col.prompt": "Prompt",
    "soak.col.n": "Asked",
    "soak.col.texts": "Different answers",
    "soak.col.p": "Changed?",
    "soak.table.trends": (
        "Growth after the warm-up [98% CI or wider: all questions share 5% of false alarms]"
    ),
    "soak.table.answers": "Fixed prompts at temperature 0, against their own noise",
    "soak.table.failures": "Requests without an answer, by kind",
    "soak.col.kind": "Kind",
    "soak.col.count": "Requests",
    "soak.counted": "{settled} to {end}",
    "soak.per_minute": "{size}/min",
    "soak.per_hour": "{share}/h",
    "soak.chart.memory": "{name}, the least of each window",
    "soak.chart.latency": "Time to the end ÷ usual for its tokens",
    "soak.chart.first_token": "Time to the first token ÷ usual for its tokens",
    "soak.chart.throughput": "Throughput, tokens a second",
    "soak.chart.told": "{title}: from {first} to {last} over {ran}. {verdict}.",
    "soak.chart.warm_up": "warm-up",
    "soak.chart.restart": "restart",
    "soak.lead": (
        "Began {date}; {concurrency} requests in flight at most, prompts of {prompt} and answers "
        "of {output} tokens, English and Chinese."
    ),
    "soak.threat.found": "Soak test of {endpoint}: UNSTABLE. {findings}",
    "soak.threat.stable": "Soak test of {endpoint}: stable through {ran}.",
    "soak.threat.open": (
        "Soak test of {endpoint}: nothing found in {ran}, too short to exclude: {names}."
    ),
    "soak.other_build": (
        "soak.json is left out: it is of {endpoint}, which is no arm of this comparison as it was "
        "compared here."
    ),
    "soak.advice": (
        "But {endpoint} did not stand its soak test: find out why before it is shipped."
    ),
}
