"""The words of the report in Chinese. Keys and fields must equal those of `catalogue_en`."""

from __future__ import annotations

from typing import Final

WORDS: Final[dict[str, str | tuple[str, ...]]] = {
    # The verdict
    "state.SHIP": "可以发布",
    "state.HOLD": "不可发布",
    "state.INCONCLUSIVE": "尚无结论",
    "state.INVALID": "比较无效",
    "gate": "门禁：{state}（退出码 {exit}）。",
    "exit": "退出码 {exit}",
    "verdict.SHIP": (
        "{candidate} 在 {margin} 个百分点的界值内不劣于 {baseline}：配对差值为 {difference} "
        "个百分点（95% 置信区间 {low} 至 {high}，{n} 对）。",
        "{candidate} 在事先设定的界值内不劣于 {baseline}。",
    ),
    "verdict.HOLD": "{candidate} 比 {baseline} 差：{reason}。",
    "verdict.INCONCLUSIVE": (
        "未能证明 {candidate} 在 {margin} 个百分点的界值内不劣于 {baseline}：{reason}。",
        "未能证明 {candidate} 不劣于 {baseline}：{reason}。",
    ),
    "verdict.INVALID": "{candidate} 与 {baseline} 无法比较：{reason}。",
    "verdict.more": "；另有 {k} 条见下",
    "verdict.join": "；",
    "where": "{scope}的{metric}：",
    "scope_metric": "{metric}，{scope}",
    # Reason codes, as clauses
    "reason.ALL_NI": "所有纳入门禁的指标在各自界值内均不劣",
    "reason.UNPROVEN": (
        "{scope}：{n} 对不足以证明 {margin} 个百分点，因此只监测是否受损，不作任何声明",
        "{scope} 的配对太少，只监测是否受损，不作任何声明",
    ),
    "reason.BETTER": (
        "{where}{candidate} 明显优于 {baseline}（{difference} 个百分点，95% 置信区间 {low} 至 "
        "{high}）",
        "{candidate} 明显优于 {baseline}",
    ),
    "reason.FLIPS_HIGH": (
        "答案翻转多于噪声所能解释：超出基线与自身对比的部分占题目的 {excess_rate}"
        "（95% 置信区间 {low_rate} 至 {high_rate}，{n} 道题问了两次；超过 {limit_rate} 即报告）",
        "答案翻转多于噪声所能解释",
    ),
    "reason.DEGRADED_ACC": (
        "{scope}的准确率下降超过 {margin} 个百分点的界值（{difference} 个百分点，95% 置信区间 "
        "{low} 至 {high}，{n} 对）",
        "准确率下降超过界值",
    ),
    "reason.HALLUCINATION_UP": (
        "{scope}的幻觉率上升超过 {margin} 个百分点的界值（{difference} 个百分点，95% 置信区间 "
        "{low} 至 {high}，{n} 对）",
        "幻觉率上升超过界值",
    ),
    "reason.DEGENERATE_UP": (
        "空白、循环或格式错误的回答上升超过 {margin} 个百分点的界值（{difference} 个百分点，95% "
        "置信区间 {low} 至 {high}，{n} 对）",
        "空白、循环或格式错误的回答上升超过界值",
    ),
    "reason.BOTH_DEGRADED": (
        "{candidate} 与 {baseline} 都比参照差，需由人决定",
        "二者都比参照差，需由人决定",
    ),
    "reason.SEQUENCE_STOPPED": ("更稳妥的候选未通过，因此按固定顺序的检验在 {candidate} 之前停止"),
    "reason.MISSING_SENSITIVE": (
        "{where}只看已回答的配对可以通过，但若把 {missing} 个缺失回答都算作 {candidate} 答错，"
        "则不能通过（{candidate} 的缺失回答中只要有 {tipping} 个答错就不再成立）",
        "{where}只看已回答的配对可以通过，但若把 {missing} 个缺失回答都算作 {candidate} 答错，"
        "则不能通过",
        "只有忽略缺失回答时才能通过",
    ),
    "reason.UNPROVABLE_N": (
        "{where}{n} 对太少（即使没有任何回答改变，也至少需要 {floor} 对；若二者同样好，约需 "
        "{equal} 对）",
        "{where}{n} 对太少（至少需要 {floor} 对）",
        "配对太少，无法证明任何结论",
    ),
    "reason.UNDERPOWERED": (
        "{where}{n} 对太少（若二者同样好，约需 {equal} 对）",
        "{where}{n} 对太少",
        "配对太少",
    ),
    "reason.LEANS_BAD": (
        "{where}若二者同样好，{n} 对本已足够，因此数据对 {candidate} 不利（按所见差值约需 "
        "{observed} 对）",
        "{where}若二者同样好，{n} 对本已足够，因此数据对 {candidate} 不利",
    ),
    "reason.NEAR_MARGIN": (
        "{where}差值（{difference} 个百分点）太接近 {margin} 个百分点的界值，再加题目也不会有结论",
        "差值太接近界值，再加题目也不会有结论",
    ),
    "reason.PAIRING_BROKEN": (
        "二者被问的题目不同（{reasons}）",
        "二者被问的题目不同",
    ),
    "reason.CONFIG_MISMATCH": (
        "二者的运行条件不同（{detail}）",
        "二者的运行条件不同",
    ),
    "reason.ERROR_RATE_HIGH": (
        "没有回答的请求太多（{n} 个中 {baseline} 有 {baseline_n} 个，{candidate} 有 "
        "{candidate_n} 个，上限 {limit}%）",
        "没有回答的请求太多",
    ),
    "reason.ERROR_RATE_DIFFERS": (
        "其中一个端点未回答的请求明显更多（{n} 个中 {baseline} 有 {baseline_n} 个，{candidate} "
        "有 {candidate_n} 个）",
        "其中一个端点未回答的请求明显更多",
    ),
    "reason.TRUNCATION": (
        "在 max_tokens 处被截断的回答太多（循环除外；{baseline}：{n_baseline} 个中 {baseline_n} "
        "个；{candidate}：{n_candidate} 个中 {candidate_n} 个；上限 {limit}%）",
        "在 max_tokens 处被截断的回答太多（循环除外）",
    ),
    "reason.TRUNCATION_DIFFERS": (
        "一方在 max_tokens 处被截断的次数多于另一方（循环除外；{baseline}：{n_baseline} 个中 "
        "{baseline_n} 个；{candidate}：{n_candidate} 个中 {candidate_n} 个）",
        "一方在 max_tokens 处被截断的次数多于另一方（循环除外）",
    ),
    "reason.FEW_CLUSTERS": (
        "{where}相互独立的题目组只有 {clusters} 组（至少需要 {needed} 组）",
        "相互独立的题目组太少",
    ),
    "reason.NOTHING_PAIRED": "没有一道题同时得到二者的回答",
    "reason.BASELINE_ZERO": (
        "基线的 {n} 个回答无一正确：这样的题目显示不出损失",
        "基线的回答无一正确：这样的题目显示不出损失",
    ),
    "reason.JUDGE_WEAK": (
        "{taskset} 的评审模型太弱，不能据以判定（{labels} 个人工标注回答上 J = {youden}；至少需要"
        "在 {least_labels} 个上达到 {least_youden}）",
        "{taskset} 由 {used} 评审，而策略中的校准属于 {calibrated}：评审模型、评分标准或采样不同",
        "{taskset} 的评审模型从未校准（至少需要在 {least_labels} 个人工标注回答上达到 J = "
        "{least_youden}）",
        "评审模型太弱，不能据以判定",
    ),
    "reason.UNPLANNED_LOOK": (
        "这是对二者的第 {look} 次检视，而运行前确定的方案（{plan}）不允许：{look} 次检视下误判可"
        "发布的概率只能保证不超过 {bound}，而不是 {alpha}",
        "这是方案不允许的一次检视",
    ),
    "reason.STAGE_2_DUE": (
        "第一阶段未能全部判定，方案还有第二阶段：约 {more} 道尚未问过的题目，每个题集至多 {each} "
        "道（有题集只剩 {few} 道）",
        "第一阶段未能全部判定，方案还有第二阶段：约 {more} 道尚未问过的题目，每个题集至多 {each} "
        "道",
        "第一阶段未能全部判定，方案还有第二阶段",
    ),
    "reason.SCORERS_FAILED": (
        "评分器在 {n} 个回答上失败：是题集或其评分器的问题，不是端点的问题",
        "评分器失败：是题集或其评分器的问题，不是端点的问题",
    ),
    "reason.JUDGE_FAILED": (
        "评审模型对 {n} 个回答没有给出可读的裁定：是评审模型的问题，不是被比较的端点的问题",
        "评审模型没有给出可读的裁定：是评审模型的问题，不是端点的问题",
    ),
    "reason.SAME_ENDPOINT": (
        "{n} 个回答中有 {identical} 个逐字相同，如同两次询问了同一个端点",
        "二者看来是同一个端点（{detail}）",
        "二者看来是同一个端点",
    ),
    "reason.NOT_QUANTIZED": (
        "{candidate} 并不是所认为的更便宜的版本（{detail}）",
        "候选并不是所认为的更便宜的版本",
    ),
    "reason.PREFLIGHT_FAILED": (
        "{endpoint} 未通过任何运行都依赖的检查（{detail}）",
        "有端点未通过任何运行都依赖的检查",
    ),
    "reason.IDENTITY_CHANGED": (
        "有端点在运行中途变成了另一个（{detail}）",
        "有端点在运行中途变成了另一个",
    ),
    "reason.other": ("{code}（{detail}）", "{code}"),
    # What to do about a reason
    "step.UNPROVABLE_N": (
        "换一个文件夹，用约 {first} 道这里没有问过的题目重新比较（若二者同样好；{most}约需 "
        "{anew} 道）：此方案不再允许检视",
        "换一个文件夹，用约 {anew} 道这里没有问过的题目重新比较（{most}需要这么多）：此方案不再"
        "允许检视",
        "换一个文件夹，用更多题目重新比较",
    ),
    "step.UNDERPOWERED": (
        "换一个文件夹，用约 {first} 道这里没有问过的题目重新比较（若二者同样好；{most}约需 "
        "{anew} 道）：此方案不再允许检视",
        "换一个文件夹，用约 {anew} 道这里没有问过的题目重新比较（{most}需要这么多）：此方案不再"
        "允许检视",
        "换一个文件夹，用更多题目重新比较",
    ),
    "step.LEANS_BAD": (
        "先看退步样本，然后用 {observed} 道题重新比较，或保留 {baseline}",
        "先看退步样本：数据对 {candidate} 不利",
        "先看退步样本",
    ),
    "step.STAGE_2_DUE": (
        "准备更大的题集：第一阶段已问完所有题目，第二阶段没有剩余{none_left}",
        "进行第二阶段：同一条命令加上 --stage-2 {each}",
        "进行方案的第二阶段",
    ),
    "step.sequential": (
        "用更大的 --limit 再次运行同一条命令：若二者同样好，约再需 {more} 道题（{most}需要这么"
        "多）；此方案允许任意次检视",
        "用更大的 --limit 再次运行同一条命令：此方案允许任意次检视",
    ),
    "step.NEAR_MARGIN": "重新考虑界值是否合适；再加题目没有帮助",
    "step.SEQUENCE_STOPPED": "先使更稳妥的候选得出结论",
    "step.MISSING_SENSITIVE": "再次运行同一条命令：它会重新询问没有回答的题目",
    "step.BOTH_DEGRADED": "请人阅读二者的退步样本",
    "step.DEGRADED_ACC": "先阅读下面的退步样本",
    "step.HALLUCINATION_UP": "先阅读下面的退步样本",
    "step.DEGENERATE_UP": "检查两个端点的停止串、对话模板和 max_tokens",
    "step.PAIRING_BROKEN": "用 --fresh 让两个端点回答相同的题目",
    "step.CONFIG_MISMATCH": "给两个端点相同的设置后重新运行",
    "step.ERROR_RATE_HIGH": "修复端点，然后再次运行同一条命令",
    "step.ERROR_RATE_DIFFERS": "修复端点，然后再次运行同一条命令",
    "step.TRUNCATION": "提高 max_tokens 后重新运行",
    "step.TRUNCATION_DIFFERS": "提高 max_tokens 后重新运行",
    "step.FEW_CLUSTERS": "询问更多题目（更大的 --limit，更多题集）",
    "step.NOTHING_PAIRED": "确认两个端点都能回答，然后重新运行",
    "step.BASELINE_ZERO": "检查题集和端点",
    "step.SCORERS_FAILED": "修正题集",
    "step.JUDGE_WEAK": (
        "用更多两类人工标注回答校准评审模型（evalkit calibrate），或换更好的评审模型"
    ),
    "step.JUDGE_FAILED": "重新运行以再次询问评审模型，或换另一个评审模型",
    "step.UNPLANNED_LOOK": (
        "换一个文件夹，用以前没有问过的题目重新比较，并事先声明允许更多检视的方案"
    ),
    "step.SAME_ENDPOINT": "确认两个地址提供的是不同的权重",
    "step.NOT_QUANTIZED": "提供量化后的权重，然后重新运行",
    "step.PREFLIGHT_FAILED": "修复端点（evalkit check 会显示问题），然后重新运行",
    "step.IDENTITY_CHANGED": "查明变化的原因，然后用 --fresh 重新运行",
    # Recommendation
    "recommend.ship_candidate": "发布 {endpoint}。",
    "recommend.ship_candidate.several": "发布 {endpoint}：通过的候选中成本最低的一个。",
    "recommend.keep_baseline": ("保留 {endpoint}：{candidate} 未通过。", "保留 {endpoint}。"),
    "recommend.not_yet": ("暂不：{step}。", "暂不：还没有可以执行的结论。"),
    # Where an interval lies
    "metric_state.superior": "更优",
    "metric_state.non-inferior": "不劣",
    "metric_state.non-inferior but measurably worse": "不劣，但明显略差",
    "metric_state.inferior": "劣于",
    "metric_state.inconclusive": "尚无结论",
    "metric_state.worse, size unresolved": "变差，幅度未定",
    "metric_state.too few pairs": "配对太少",
    "metric_state.alarm": "{state}（仅监测）",
    "metric_line": (
        "{metric}，{scope}：{difference} 个百分点 {interval}，界值 {margin} 个百分点，{n} 对："
        "{state}"
    ),
    "metric_line.invalid": "比较无效，不作判断",
    "metric_tests": "差于界值：{degraded}（Holm）；不劣：{noninferior}",
    # Names
    "metric.accuracy": "准确率",
    "metric.hallucination": "幻觉率",
    "metric.degenerate": "退化输出",
    "scope.pooled": "全部类别",
    "row.pooled": "各类别均值",
    "scope.facts": "事实",
    "scope.instructions": "指令",
    "scope.code": "代码",
    "scope.longform": "长文",
    "scope.math": "数学",
    "role.baseline": "基线",
    "role.candidate": "候选",
    "outcome.correct": "正确",
    "outcome.incorrect": "错误",
    "outcome.abstained": "弃答",
    "outcome.unscored": "未评分",
    "outcome.missing": "缺失",
    "flag.hallucinated": "幻觉",
    "flag.truncated": "截断",
    "flag.empty": "空白",
    "flag.loop": "循环",
    "flag.garbled": "乱码",
    "flag.wrong_language": "语言不符",
    "flag.bad_format": "格式错误",
    "flag.refused": "拒答",
    "flag.extractors_disagree": "两种提取不一致",
    "cause.truncated": "截断",
    "cause.empty": "空白",
    "cause.loop": "循环",
    "cause.garbled": "乱码",
    "cause.wrong_language": "语言不符",
    "cause.refused": "拒答",
    "cause.abstained": "弃答",
    "cause.unparsable": "无法解析",
    "cause.bad_format": "格式错误",
    "cause.wrong_result": "结果错误",
    "cause.judge_only": "仅评审判定",
    "cause.infrastructure": "没有回答",
    "transition.regression": "退步",
    "transition.improvement": "进步",
    "transition.both_right": "都对",
    "transition.both_wrong": "都错",
    "transition.missing": "缺回答",
    "length.short": "短（不足 500 字符）",
    "length.medium": "中（不足 4,000 字符）",
    "length.long": "长",
    "pair_state.differs": "文本不同",
    "pair_state.no_answer": "没有回答",
    "pair_state.unscored": "未评分",
    "col.transition": "配对",
    "col.embedded": "已嵌入",
    "explorer_table": "嵌入了什么",
    "explorer_lead.all": "全部 {total} 个配对都在本页中，含双方回答。",
    "explorer_lead.part": (
        "本页含 {total} 个配对中的 {shown} 个及双方回答：先是翻转，"
        "再是缺失或损坏的回答，其余随机抽取；剩下的在运行文件夹中（--embed all 可全部放入）。"
        "上面所有数字都计入全部配对。"
    ),
    "explorer_none.none": "本页按要求不含单个配对（--embed none）；它们在运行文件夹中。",
    "explorer_none.gone": (
        "无法显示单个配对：本次比较的运行文件夹已不在原处。请放回原处，再对比较文件夹"
        "运行 evalkit report。"
    ),
    "explorer_none.changed": (
        "无法显示单个配对：比较之后运行文件夹又重新评分或提问过。请再次运行 evalkit compare。"
    ),
    "explorer_none.unreadable": (
        "无法显示单个配对：运行文件夹或其任务集已无法按原样读取。evalkit re"
        "port 会在控制台说明原因。"
    ),
    "ui.explorer": "浏览：逐个配对",
    "ui.explorer_noscript": "浏览功能需要 JavaScript。判定、全部数字和上面的前若干退步不需要。",
    "ui.explorer_broken": "无法读取嵌入的配对：本页已损坏或不完整。",
    "ui.explorer_old": "此浏览器过旧，无法解压嵌入的配对。",
    "ui.explorer_link": "在浏览区查看全部",
    "explorer.candidate": "候选",
    "explorer.transition": "变化",
    "explorer.family": "类别",
    "explorer.taskset": "任务集",
    "explorer.cause": "原因",
    "explorer.language": "语言",
    "explorer.length": "提示长度",
    "explorer.state": "状态",
    "explorer.any": "全部",
    "explorer.search": "搜索",
    "explorer.search_hint": "提示和回答中的文字",
    "explorer.clear": "显示全部",
    "explorer.keys": "按键：j k 下一个、上一个，/ 搜索，Esc 返回",
    "explorer.list": "配对列表",
    "explorer.pair": "选中的配对",
    "explorer.choose": "请从列表中选择一个配对。",
    "explorer.count": "本页 $total 个配对中的 $n 个",
    "explorer.none": "本页没有符合条件的配对。",
    "explorer.stop": "停止",
    "explorer.stopped": "（已停止）",
    "explorer.searching": "已搜索 $done / $all 块",
    "explorer.unreadable": "本页的这一部分无法读取。",
    "explorer.previous": "上一个",
    "explorer.next": "下一个",
    "explorer.close": "关闭",
    "explorer.not_here": "本页的配对中没有“$id”。",
    "explorer.epoch": "第 $n 轮",
    "explorer.prompt": "提示",
    "explorer.target": "标准答案",
    "explorer.reasoning": "推理",
    "explorer.extracted": "提取的答案",
    "explorer.value": "得分",
    "explorer.explanation": "理由",
    "explorer.flags": "标记",
    "explorer.finish": "结束原因",
    "explorer.tokens": "词元数",
    "explorer.seconds": "延迟",
    "explorer.first": "首个词元",
    "explorer.seconds_unit": "$s 秒",
    "explorer.no_answer": "没有回答：$reason",
    "explorer.null_text": "服务器返回 null。",
    "explorer.empty_text": "回答为空。",
    "explorer.redacted": "已隐去，哈希 $hash",
    "explorer.redacted_text": "已隐去：$n 个字符，哈希 $hash",
    "explorer.same": "两个回答逐字相同。",
    "explorer.differs": "第一处不同在第 $n 个字符。",
    "explorer.too_different": "差异太大，无法逐词区分。",
    "explorer.hash_differs": "两个回答不同。",
    "explorer.curl": "复制为 curl",
    "explorer.copied": "已复制。",
    "explorer.copy_failed": "请选择并复制：",
    "explorer.curl_more": "未包含（没有记录）：$names。",
    "language.en": "英语",
    "language.zh": "中文",
    "message_role.system": "系统",
    "message_role.user": "用户",
    "message_role.assistant": "助手",
    "untested.template": "对话模板和分词器是否相同",
    "untested.sampling": "采样是否相同",
    "untested.prompts": "题目是否相同",
    "untested.texts": "没有文本的回答是否退化",
    "untested.weights": "是哪份权重作答",
    "untested.server": "服务如何运行",
    "untested.policy": "界限是否事先确定",
    "exclusion.only_in_baseline": "只问了基线",
    "exclusion.only_in_candidate": "只问了候选",
    "exclusion.prompt_mismatch": "题目不同",
    "exclusion.unknown_sample": "未知样本",
    # Threats
    "level.ok": "正常",
    "level.warn": "注意",
    "level.fail": "故障",
    "threat.COVERAGE": ("{planned} 道题中 {complete} 道二者都已回答", "覆盖率"),
    "threat.EXCLUSIONS": (
        "未能配对：{n}（{reasons}）",
        "未能配对：{n}",
        "排除",
    ),
    "threat.MISSING": ("没有回答：{baseline_n} 比 {candidate_n}，共 {n}", "缺失的回答"),
    "threat.MISSING_REASONS": "缺失原因：{detail}",
    "threat.TRUNCATED": (
        "在 max_tokens 处截断（循环除外）：{baseline_n} 比 {candidate_n}，共 {n}",
        "被截断的回答",
    ),
    "threat.DEGENERATE": (
        "空白、循环或无法读取：{baseline_n} 比 {candidate_n}，共 {n}",
        "退化回答",
    ),
    "threat.NOISE_FLOOR": (
        "噪声底：{n} 道题问了基线两次，翻转 {flips}，逐字相同 {same}；候选多翻转 {excess} 个百分点",
        "噪声底：{n} 道题问了基线两次，翻转 {flips}，逐字相同 {same}",
        "未测量运行间噪声（基线与自身对比）",
    ),
    "threat.UNSCORED": (
        "回答中没有可评分内容：{baseline_n} 比 {candidate_n}，共 {n}",
        "未评分的回答",
    ),
    "threat.SCORER_ERRORS": (
        "评分器出错：{baseline_n} 比 {candidate_n}，共 {n}",
        "评分器出错",
    ),
    "threat.GREEDY_EPOCHS": (
        "温度为 0 时问 {epochs} 遍并不比问一遍多证明什么："
        "{n} 道题中有 {identical} 道每次回答都相同",
        "温度为 0 时的重复并不比问一遍多证明什么",
    ),
    "threat.IDENTICAL_TEXTS": (
        "逐字相同的回答：{n} 中有 {identical}",
        "逐字相同的回答",
    ),
    "threat.SKIPPED": ("未包括：{names}", "有题集未包括"),
    "threat.FIELDS_OMITTED": (
        "因有端点拒绝而未向任何端点发送的采样字段：{fields}",
        "有采样字段未发送",
    ),
    "threat.CONFOUNDED": (
        "虽有差异仍被允许：{finding}（{detail}）",
        "虽有差异仍被允许：{finding}",
        "虽有差异仍被允许",
    ),
    "threat.LOOK": ("对二者的第 {look} 次检视，第 {stage} 阶段；方案：{plan}", "检视次数"),
    "threat.RULE_WEAK": (
        "{taskset} 由规则（{scorer}）判定，它在开放式回答上与 {labels} 标注的一致率为 "
        "{share}：请指定评审模型，否则只看两者之差",
        "{taskset} 由与标注常不一致的规则判定：请指定评审模型",
        "开放式回答由规则判定",
    ),
    "left_out.label_fault": "标注或判定已知有误",
    "left_out.needs_download": "其判定需要下载的词表",
    "left_out.random_checker": "其判定带有随机性",
    "threat.LABEL_FAULTS": (
        "{taskset}：有 {n} 道题虽标注或判定已知有误仍被计入；--skip-faulty 可将其排除",
        "标注已知有误的题",
    ),
    "threat.PROMPTS_LEFT_OUT": (
        "{taskset}：有 {n} 道题未提问（{why}）",
        "公开题集中未提问的题",
    ),
    "threat.JUDGED": (
        "{taskset} 由模型评审（灵敏度 {sensitivity}，特异度 {specificity}，J = {youden}，{labels} "
        "个标注）：差值已按 J 校正",
        "由模型评审",
    ),
    "threat.REVIEWED": (
        "评审人（{reviewers}）标记了 {marks} 个样本，其中 {applied} 条标记有影响。"
        "评审前：{before}；评审后：{after}。标记只能撤回 SHIP",
        "评审人标记了样本",
    ),
    "threat.REVIEW_ONE_SIDED": (
        "所有有影响的标记都有利于{arm}（{n} 条）：也请检查可能不利于它的样本",
        "所有标记都有利于同一方",
    ),
    "threat.JUDGE": (
        "{judge} 按评分标准 {rubric}（{hash}）裁定了 {tasksets}；换顺序再问一次时，{twice} 个"
        "回答中有 {share} 与自己一致；没有裁定：{lost}",
        "{judge} 按评分标准 {rubric}（{hash}）裁定了 {tasksets}；没有裁定：{lost}",
        "一部分回答由模型裁定",
    ),
    "threat.CALIBRATED_LATER": (
        "{tasksets} 的评审模型在运行开始之后才校准；运行之前固定的策略中没有校准",
        "评审模型在运行开始之后才校准",
    ),
    "threat.JUDGES_ITSELF": (
        "评审模型 {judge} 与 {endpoint} 是同一个端点：它可能偏爱自己的回答",
        "评审模型是被比较的端点之一",
    ),
    "threat.POLICY_CHANGED": (
        "运行之后策略被修改：{changes}。按运行前确定的策略：{before}；按新策略：{after}。门禁以前者"
        "为准，新策略只能撤销“可以发布”",
        "运行之后策略被修改",
    ),
    "threat.POLICIES_DIFFER": (
        "各次运行记录的策略不同（{arms}）：{changes}。按第一个：{before}；按另一个：{after}。两者都"
        "通过才可发布",
        "各次运行记录的策略不同",
    ),
    "threat.POLICY_UNKNOWN": (
        "有运行（{arms}）是在另一策略下记录的，只知其哈希",
        "有运行是在另一策略下记录的，只知其哈希",
    ),
    "threat.SERVER_DIED": (
        "{endpoint} 的服务器在提问期间崩溃（{deaths} 次）：{detail}",
        "服务器崩溃",
    ),
    "threat.RECORDED": (
        "由 {tools} 记录并评分（{metrics}）。无法检验：{untested}",
        "由 {tools} 记录，在此评分。无法检验：{untested}",
        "由其他工具记录：它没有写下的都无法检验",
    ),
    "threat.SANDBOX": (
        "程序在较弱的沙箱“{sandbox}”中运行（{layers}）：请安装 bubblewrap",
        "沙箱较弱",
    ),
    "threat.other": ("{finding}：{detail}", "{finding}"),
    # 预检的发现
    "finding.distinct": "是否为两个端点：{message}",
    "finding.request": "请求方式：{message}",
    "finding.engine": "引擎：{message}",
    "finding.engine_version": "引擎版本：{message}",
    "finding.context_length": "上下文长度：{message}",
    "finding.template_hash": "聊天模板：{message}",
    "finding.tokenizer_hash": "分词器：{message}",
    "finding.rendering_hash": "渲染后的对话：{message}",
    "finding.same_answers": "回答是否相同：{message}",
    "finding.quantized": "候选的量化：{message}",
    "finding.quantization": "所称的量化：{message}",
    "finding.prompt_tokens": "提示词的 token 数：{message}",
    "finding.token_ids": "token 编号：{message}",
    "finding.context": "可用的上下文：{message}",
    "finding.seed": "随机种子与温度：{message}",
    "finding.stop": "停止串：{message}",
    "finding.long_prompt": "过长的提示词：{message}",
    "finding.logprobs": "对数概率：{message}",
    "finding.reasoning": "推理内容：{message}",
    "finding.answer": "回答：{message}",
    "finding.rendering": "提示词的渲染：{message}",
    "finding.recorded_tasks": "任务：{message}",
    "finding.recorded_documents": "样本：{message}",
    "finding.recorded_prompts": "题目：{message}",
    "finding.recorded_settings": "设置：{message}",
    "finding.sampling": "采样：{message}",
    "finding.max_tokens": "max_tokens：{message}",
    "finding.finish_reason": "结束原因：{message}",
    "finding.stream": "流式输出：{message}",
    "finding.alive": "端点是否存活：{message}",
    "finding.omitted": "未发送的字段：{message}",
    # Why there is no number
    "warn.baseline_too_low": "基线答对太少，不给比值",
    "warn.few_clusters": "独立组太少",
    "warn.no_data": "没有数据",
    "warn.no_complete_pair": "没有一道题同时得到二者的回答",
    "warn.no_flips": "没有翻转",
    "warn.sparse_graded": "有差异的评分太少",
    "warn.unbounded": "没有上界",
    "warn.none": "未测量",
    # Headlines
    "headline.difference": "准确率的配对差值",
    "headline.recovery": "恢复率",
    "headline.flips": "翻转",
    "unit.points": "个百分点",
    "unit.none": "",
    "headline.difference.detail": "95% 置信区间 · 各类别均值 · 界值 −{margin} 个百分点",
    "headline.recovery.detail": (
        "95% 置信区间 · 全部回答 {baseline_rate} → {candidate_rate}",
        "95% 置信区间",
    ),
    "headline.flips.detail": (
        "退步 : 进步，{n} 对 · {p} · 基线与自身对比：{noise}",
        "退步 : 进步，{n} 对 · {p}",
    ),
    # 噪声底
    "noise.lead": (
        "{n} 道题问了基线两次：{flips} 的答案在对错之间翻转，{same} 逐字相同。在同样的题目上，"
        "候选多翻转 {excess} 个百分点。全部 {all_n} 对中翻转 {all_flips}。",
        "{n} 道题问了基线两次：{flips} 的答案在对错之间翻转，{same} 逐字相同。"
        "全部 {all_n} 对中翻转 {all_flips}。",
    ),
    "noise.share": "{n} 题中 {rate}",
    "noise.source.batching": "两次温度均为 0，因此这是服务器自身的噪声。",
    "noise.source.sampling": "第二次使用另一个种子，因此这是采样的噪声。",
    "table.noise": "基线与自身对比的翻转，以及候选超出的部分",
    "col.asked_twice": "问两次",
    "col.noise": "基线与自身对比 [95%\u00a0CI]",
    "col.same_text": "逐字相同 [95%\u00a0CI]",
    "col.beside": "候选，同样的题目 [95%\u00a0CI]",
    "col.excess": "超出，百分点 [95%\u00a0CI]",
    "method.noise.name": "噪声底",
    "method.noise": (
        "按种子抽取一部分题目，夹在其他题目之间，以相同设置再问基线一次。超出的翻转等于同样题目上"
        "候选的翻转减去基线自身的翻转，并给出配对区间。它衡量候选改变了多少答案；结论不依赖于它。"
    ),
    "ui.noise": "噪声底",
    # pass@k
    "pass.lead": (
        "每道题问了 {epochs} 次。pass@k 是 k 个回答中至少有一个正确的概率；"
        "它仅供参考，不参与判定。",
        "pass@k 是 k 个回答中至少有一个正确的概率；它仅供参考，不参与判定。",
    ),
    "pass.left_out": "最多有 {n} 道题在两方的回答太少，未计入。",
    "table.pass": "两方的 pass@k，按题配对",
    "col.pass_family": "类别",
    "col.pass_k": "尝试次数",
    "col.pass_prompts": "题数",
    "col.pass_arm": "{arm} 通过率 [95%\u00a0CI]",
    "col.pass_difference": "差值，百分点 [95%\u00a0CI]",
    "method.passes.name": "通过率 pass@k",
    "method.passes": (
        "一道题有 n 个回答、其中 c 个正确时的无偏估计 1 − C(n−c, k) / C(n, k)"
        "（Chen et al. 2021），再对题目取平均。各方的 Wilson 区间和差值的配对区间都以题目"
        "（或其所属的簇）为单位；同一题的重复绝不视为独立。pass@1 即平均准确率。"
    ),
    "ui.passes": "通过率 pass@k",
    # Forest plot
    "forest.title": "准确率的配对差值，{candidate} 减 {baseline}",
    "forest.description": (
        "每个类别一行，全部类别一行。点是以百分点计的差值；粗线是 90% 区间，供单侧 5% 检验使用；"
        "细线是 95% 区间。实线为零，虚线为界值。{rows}"
    ),
    "forest.row": "{label}：{difference} 个百分点 {interval}，界值 {margin}，{state}。",
    "forest.axis": "百分点；零的左侧表示 {candidate} 更差",
    "forest.margin": "界值 −{margin}",
    "forest.col.n": "对数",
    "forest.col.baseline": "{name}",
    "forest.col.candidate": "{name}",
    "forest.col.difference": "差值 [95%\u00a0CI]",
    "forest.col.state": "判读",
    # Gains
    "gain.weights": "权重",
    "gain.speed": "每秒词元数",
    "gain.latency": "延迟中位数",
    "gain.p95": "延迟第 95 百分位",
    "gain.cost": "每百万词元成本",
    "gain.tokens": "每个回答的词元数",
    # Needed
    "needed.near": "再加题目也不会有结论：请重新考虑界值",
    "needed.few": "低于下限：太少，无法多说",
    "needed.met": "若二者同样好，数量已足够；数据对候选不利",
    # Cards
    "cut": "…… 已截去 {n} 个字符 ……",
    "flips.note": "此处显示 {total} 条中的 {shown} 条；全部见运行文件夹。",
    "no_answer": "没有回答：{reason}",
    "null_text": "服务器没有返回文本",
    "empty_text": "空白",
    "redacted": "题目与回答已隐去：同一样本中哈希相同即文本相同。",
    "redacted.role": "已隐去",
    "redacted.hash": "哈希 {hash}",
    "redacted.text": "已隐去：{n} 个字符，哈希 {hash}",
    "redacted.target": "已隐去",
    "fact.finish": "结束原因",
    "fact.tokens": "词元",
    "fact.flags": "标记",
    "fact.value": "得分",
    "epoch": "第 {n} 轮",
    # Tables
    "table.transitions": "可以弃答的配对，按 {baseline}（行）与 {candidate}（列）的结果计数",
    "col.outcome_of": "{arm} 的结果",
    "col.becomes": "{arm}：{outcome}",
    "table.outcomes": "{baseline} → {candidate}，限二者都回答的配对",
    "table.causes": "退步的原因",
    "table.tasksets": "所问的题目",
    "col.family": "类别",
    "col.cause": "原因",
    "col.total": "合计",
    "col.taskset": "题集",
    "col.samples": "题数",
    "col.languages": "语言",
    "col.margin": "界值（百分点）",
    "col.max_tokens": "max_tokens",
    "col.scorer": "评分器",
    "col.hash": "哈希",
    "skipped": "{taskset}（{family}）未包括：{reason}",
    # Provenance and details
    "prov.engine": "引擎",
    "prov.sampling": "采样",
    "prov.seed": "种子",
    "prov.policy": "策略",
    "prov.version": "evalkit",
    "prov.created": "生成于",
    "fact.model": "模型",
    "fact.engine": "引擎",
    "fact.quantization": "量化",
    "fact.base_url": "地址",
    "fact.context_length": "上下文",
    "fact.template_hash": "模板",
    "fact.weights_hash": "权重哈希",
    "fact.weights_bytes": "权重",
    "fact.requests": "已回答",
    "fact.errors": "错误",
    "answered": "{asked} 个请求中的 {answered} 个",
    "fact.hash": "哈希",
    "fact.judge_endpoint": "端点",
    "fact.judge_label": "说明",
    "fact.judge_model": "模型",
    "fact.judge_rubric": "评分标准",
    "fact.judge_mark": "评审模型、评分标准与采样的标记",
    "fact.judge_tasksets": "裁定的题集",
    "fact.judge_answers": "裁定的不同回答",
    "fact.judge_agreement": "与自己一致",
    "fact.judge_failures": "没有裁定，{endpoint}",
    "fact.judge_calibration": "校准，{taskset}",
    "judge.none": "无",
    "judge.calibration": (
        "灵敏度 {sensitivity}，特异度 {specificity}，J = {youden}，{labels} 个标注"
    ),
    "judge.uncalibrated": "无：不能据以判定",
    "detail.judge": "评审模型",
    "detail.policy": "策略",
    "detail.sampling": "采样",
    "detail.settings": "设置",
    "detail.timing": "墙钟时间",
    # Releases in a line
    "release.sentence": (
        "与 {folder} 中的 {endpoint} 比较（{verdict}，{date}）：{why}。",
        "与 {folder} 中的 {endpoint} 比较（{date}）：{why}。",
    ),
    "release.chosen.named": "按要求取其中的{role}",
    "release.chosen.recommended": "当时建议发布的一个",
    "release.chosen.kept": "当时没有建议任何候选，因此取其基线",
    "release.chosen.run": "一次已记录的运行",
    "release.role.baseline": "基线",
    "release.role.candidate": "候选",
    "release.role.run": "运行",
    "release.rescored": "{taskset} 当时由 {then} 评分；已保存的回答由 {now} 重新评分。",
    "release.policy": "没有另给策略，因此按该次发布的策略判定。",
    "change": ("{candidate}：{what}（{detail}）。", "{candidate}：{what}。"),
    "change.same.same": "权重相同，引擎相同：没有任何变化",
    "change.same.new": "权重相同，引擎是新的",
    "change.same.unknown": "权重相同；引擎是否变化无从得知",
    "change.new.same": "权重是新的，引擎相同",
    "change.new.new": "权重和引擎都是新的",
    "change.new.unknown": "权重是新的；引擎是否变化无从得知",
    "change.unknown.same": "引擎相同；权重是否变化无从得知",
    "change.unknown.new": "引擎是新的；权重是否变化无从得知",
    "change.unknown.unknown": "权重和引擎是否变化都无从得知",
    "rollback": (
        "回退目标：{folder} 中的 {endpoint}（{verdict}，{date}）：{label}。",
        "回退目标：{folder} 中的 {endpoint}（{date}，未判定）：{label}。",
    ),
    "rollback.none": "没有已知的更早的可发布版本：没有可以回退的目标。",
    "fact.engine_version": "引擎版本",
    "fact.tokenizer_hash": "分词器",
    "fact.rendering_hash": "渲染后的对话",
    "fact.request_hash": "请求",
    "fact.command_hash": "命令",
    "fact.hardware": "硬件",
    "fact.n_params": "参数量",
    "fact.size": "大小",
    # 内存
    "capacity.title": "{model} 的内存需求",
    "capacity.needed": "需要：{names}。",
    "capacity.sentences": "",
    "capacity.groups": "{name}，每组 {size}",
    "capacity.blocks": "{name}，块大小 {size}",
    "capacity.fits": "{device} 内放得下：{names}。",
    "capacity.fits_less": "{device} 内需缩短上下文或减少并发才放得下：{names}。",
    "capacity.fits_not": "完全放不下：{names}。",
    "capacity.none": "{device} 内一个也放不下：{names}。",
    "capacity.named": "{name}（{size}）",
    "capacity.join": "、",
    "capacity.device": "设备：{size}",
    "capacity.work": (
        "同时 {concurrency} 个序列，每个 {context} 个词元；KV 缓存精度 {kv}；"
        "设备留出 {headroom} 余量。"
    ),
    "capacity.what": "项目",
    "capacity.caption": "各量化方案的内存",
    "capacity.layout": "线性层的存储格式",
    "capacity.bits": "每参数位数",
    "capacity.part.weights": "权重",
    "capacity.part.repacked": "重排权重",
    "capacity.part.kv_cache": "KV 缓存",
    "capacity.part.draft_weights": "草稿权重",
    "capacity.part.draft_kv_cache": "草稿 KV 缓存",
    "capacity.part.activations": "激活",
    "capacity.part.reserve": "运行时预留",
    "capacity.part.headroom": "安全余量",
    "capacity.total": "合计需要",
    "capacity.fit": "是否放得下",
    "capacity.yes": "✓ 放得下",
    "capacity.less": "✗ 需减少负载",
    "capacity.no": "✗ 完全放不下",
    "capacity.longest": "{concurrency} 路并发时的最长上下文",
    "capacity.most": "{context} 词元时的最多序列数",
    "capacity.read": "每个词元读取的权重",
    "capacity.checkpoint": "权重文件大小",
    "capacity.rooms": "{device} 内放得下的最长上下文（按并发数）",
    "capacity.sequences": "并发序列数",
    "capacity.at_limit": "{context}（模型上限）",
    "capacity.parts": "各部分的参数量",
    "capacity.fact.architecture": "架构",
    "capacity.fact.engine": "推理引擎",
    "capacity.fact.parameters": "参数量",
    "capacity.fact.active": "每词元激活参数",
    "capacity.fact.layers": "保留缓存或状态的层",
    "capacity.fact.kv_token": "每增加一个词元的 KV 缓存",
    "capacity.fact.kv_sequence": "一个序列的 KV 缓存",
    "capacity.fact.limit": "模型的最长上下文",
    "capacity.fact.draft": "草稿",
    "capacity.layers.full": "{count} 层全注意力",
    "capacity.layers.sliding": "{count} 层滑动窗口（{window} 词元）",
    "capacity.layers.latent": "{count} 层潜在注意力（MLA）",
    "capacity.layers.linear": "{count} 层线性注意力（状态大小固定）",
    "capacity.of.embedding": "词嵌入",
    "capacity.of.head": "输出头",
    "capacity.of.attention": "注意力",
    "capacity.of.feed_forward": "前馈网络",
    "capacity.of.experts": "路由专家",
    "capacity.of.shared_experts": "共享专家",
    "capacity.of.router": "路由器",
    "capacity.of.norms": "归一化与偏置",
    "capacity.of.mtp": "MTP 头（仅在 --draft mtp 时加载）",
    "capacity.of.vision": "视觉编码器",
    "capacity.note.assumed": "{where} 未写明，按该架构的默认值计：{fields}。",
    "capacity.note.stored": "按存储方式：{layout}，读自 quantization_config。",
    "capacity.note.vision": "视觉编码器保持 16 位，并计入。",
    "capacity.note.vision_unknown": "视觉编码器（{kind}）未计入：其结构未知。",
    "capacity.note.mtp": "模型带有 MTP 头（{count} 个）；只有 --draft mtp 时才占内存。",
    "capacity.note.window": (
        "滑动窗口层只保留窗口内的词元。不支持混合 KV 缓存的引擎会在这些层保留整个序列。"
    ),
    "capacity.note.latent": "潜在缓存保存压缩向量和旋转位置键。",
    "capacity.note.indexer": "每层还为每个词元保存索引器的键，精度与缓存相同。",
    "capacity.note.state": "线性层保留固定大小的 float32 状态和 16 位卷积窗口。",
    "capacity.note.no_limit": "文件未写明模型的最长上下文。",
    "capacity.note.beyond_limit": "{context} 个词元超过模型设计的 {limit}。",
    "capacity.note.kv_declared": "该权重按 {declared} 的 KV 缓存校准；此处按 {kv} 计。",
    "capacity.note.experts": "所有专家都常驻内存，不论词元用到哪些；激活专家决定速度，不决定内存。",
    "capacity.note.tied": "词嵌入同时是输出头，只存一份。",
    "capacity.note.draft": "草稿模型 {draft} 按 {layout} 存放，并有自己的 KV 缓存。",
    "capacity.note.repacked": "llama.cpp 在 CPU 上会重排这些矩阵，因此存两份；在 GPU 上不会。",
    "capacity.note.engine_vllm": (
        "预填充每步 {tokens} 个词元，激活 16 位，logits 为 float32；"
        "预留用于 CUDA 上下文、库和捕获的图。"
    ),
    "capacity.note.engine_llama": (
        "预填充每步 {tokens} 个词元，激活 32 位，logits 为 float32；预留为进程在 CPU 上的开销。"
    ),
    "capacity.note.kept": (
        "按名称指定的格式中，词嵌入、输出头、归一化、偏置、路由器、视觉编码器和 MTP 头保持 16 位；"
        "GGUF 格式也量化词嵌入和输出头。"
    ),
    "capacity.note.units": "1 GB 为 10⁹ 字节，1 GiB 为 2³⁰ 字节。",
    "capacity.note.headroom_low": "余量不足 10%；建议 10% 至 20%。",
    "capacity.note.one_device": "设备视为一块内存：不跨设备拆分。",
    "ui.capacity": "容量",
    "ui.capacity_chart": "需要多少内存",
    "ui.capacity_rooms": "放得下什么",
    "ui.capacity_model": "模型",
    "ui.capacity_assumed": "计算所用的假设",
    "history.title": "{folder} 中的各次发布",
    "history.lead": (
        "共 {n} 个结果，最新的是{verdict}：{candidate} 对 {baseline}，准确率相差 {difference} "
        "个百分点 {interval}（{date}）。"
    ),
    "history.also": "{candidate}：{verdict}，{difference} 个百分点 {interval}。",
    "history.unread": "未计入 {folder}：{reason}",
    "history.chart": "{metric}：与基线之差（百分点）",
    "history.chart.text": (
        "{n} 个结果的{metric}，从旧到新；题目、策略或评分器变化之处折线断开。表中是同样的数字。"
    ),
    "history.margin": "界值",
    "history.point": "{date}，{candidate} 对 {baseline}：{difference} {interval}，{verdict}",
    "history.broken": "{folder}（{date}）不与前一个相连：{what}。",
    "break": "{group} {name}：{before} → {after}",
    "break.prompts": "题目",
    "break.policy": "策略",
    "break.scorer": "评分器",
    "break.sampling": "采样",
    "break.settings": "设置",
    "break.more": "另有 {n} 处",
    "history.back": "{folder} 中的 {endpoint}",
    "ui.release": "与更早的发布相比",
    "ui.rollback": "回退目标",
    "ui.changed_field": "不同之处",
    "ui.before": "之前",
    "ui.after": "之后",
    "ui.whole_report": "保存在",
    "ui.history": "各次发布",
    "ui.history_points": "全部结果",
    "ui.history_breaks": "折线断开之处",
    "ui.history_unread": "未计入",
    "ui.history_order": "结果按日期排列，间距相等。竖线是 95% 区间。",
    "ui.date": "日期",
    "ui.folder": "文件夹",
    "ui.new_since": "与前一次相比",
    # Methods
    "method.paired.name": "配对差值",
    "method.paired": (
        "两个端点回答相同的题目，每对回答计一次。区间为两个配对比例之差的 Tango 得分区间；"
        "非劣效检验是与之对应的单侧 5% 得分检验，界值在运行前固定。门禁看 90% 区间，"
        "表格给出 95% 区间。Tango, Statistics in Medicine 17:891 (1998)。"
    ),
    "method.pooled.name": "全部类别合并",
    "method.pooled": (
        "各类别等权平均，区间用方差估计恢复法（MOVER）由各类别的区间合成。"
        "Newcombe, Statistics in Medicine 17:2635 (1998)。"
    ),
    "method.recovery.name": "恢复率",
    "method.recovery": (
        "候选准确率除以基线准确率，区间为配对比值的得分区间。仅供参考，绝不作为改进的证据；"
        "基线准确率低于 10% 或基线答对少于 30 题时不给比值。"
        "Nam & Blackwelder, Statistics in Medicine 21:689 (2002)；"
        "Tang et al., Statistics in Medicine 22:1217 (2003)。"
    ),
    "method.rates.name": "比率",
    "method.rates": "单个端点的比率附 Wilson 得分区间。Wilson, JASA 22:209 (1927)。",
    "method.flips.name": "翻转",
    "method.flips": (
        "退步是原来答对现在答错，进步则相反。McNemar mid-p 检验两个计数之差是否超出偶然；"
        "它与界值无关，不参与门禁。"
        "Fagerland et al., BMC Medical Research Methodology 13:91 (2013)。"
    ),
    "method.decision.name": "判定",
    "method.decision": (
        "“可以发布”要求所有纳入门禁的指标都不劣（交并检验，Berger, Technometrics 24:295, 1982）。"
        "“不可发布”要求超出界值的损害在对全部指标作 Holm 校正后仍然成立"
        "（Holm, Scandinavian Journal of Statistics 6:65, 1979）。其余皆为“尚无结论”："
        "没有显著差异不等于没有差异。“比较无效”表示两次运行无法比较。"
    ),
    "method.hallucination.name": "幻觉",
    "method.hallucination": (
        "在可以弃答的题目中断言了错误内容的回答所占比例 I / n，总是与弃答率以及 I / (C + I) "
        "并列，因为模型可以用一个换另一个。C 正确，I 错误，N 弃答："
        "Wei et al., arXiv 2411.04368 (2024)。"
    ),
    "method.missing.name": "缺失的回答",
    "method.missing": (
        "没有回答的请求是缺失，不是答错。把所有缺失都算作候选答错时，“可以发布”也必须成立。"
        "被截断、空白、循环或无法读取的回答由模型自己造成，算作不正确。"
    ),
    # Fixed words of pages
    "ui.report": "量化发布门禁",
    "ui.recommendation": "建议",
    "ui.candidates": "候选",
    "ui.baseline": "基线",
    "ui.candidate": "候选",
    "ui.verdict": "结论",
    "ui.annotations_left": "项其他发现：见本步骤的摘要和报告。",
    "ui.cut": "其余内容在此略去，全文见报告。",
    "ui.reasons": "理由",
    "ui.same_table": "同样的数字，以表格给出",
    "ui.hallucination": "幻觉与弃答并列",
    "ui.hallucinated_share": "幻觉，I\u00a0/\u00a0n",
    "ui.abstained_share": "弃答，N\u00a0/\u00a0n",
    "ui.attempted_share": "作答中，I\u00a0/\u00a0(C\u00a0+\u00a0I)",
    "ui.hallucination_none": "未测量：这里没有可以弃答的题目。",
    "ui.endpoint": "端点",
    "ui.change_paired": "配对变化",
    "ui.threats": "结论会错吗？",
    "ui.gains": "换来什么",
    "ui.gains_none": "本次运行未测量。",
    "ui.change": "变化",
    "ui.provenance": "来源",
    "ui.families": "各类别",
    "ui.family": "类别",
    "ui.pairs": "对数",
    "ui.accuracy": "准确率",
    "ui.difference": "差值，百分点 [95%\u00a0CI]",
    "ui.recovery": "恢复率 [95%\u00a0CI]",
    "ui.over_all": "按全部回答",
    "ui.flips": "退步 : 进步",
    "ui.hallucination_col": "幻觉率",
    "ui.abstention_col": "弃答率",
    "ui.attempted_col": "I / (C + I)",
    "ui.state": "判读",
    "ui.metrics": "每个指标及其检验",
    "ui.metric": "指标",
    "ui.margin": "界值（百分点）",
    "ui.p_noninferior": "不劣",
    "ui.p_degraded": "受损（Holm）",
    "ui.transitions": "结果的转移",
    "ui.transitions_lead": "错误即幻觉：本可弃答却作了不实断言。对角线上是两侧结果相同的配对。",
    "ui.outcomes": "结果与标记",
    "ui.regressions": "退步",
    "ui.regressions_lead": "基线答对，候选答错。",
    "ui.improvements": "进步",
    "ui.improvements_lead": "基线答错，候选答对。",
    "ui.not_measured": "未测量",
    "ui.none_found": "无。",
    "ui.show_others": "显示其余",
    "ui.show_all": "显示全部",
    "ui.prompt": "题目",
    "ui.target": "标准答案",
    "ui.extracted": "提取的答案",
    "ui.reasoning": "推理",
    "ui.cause": "原因",
    "ui.needed": "得出结论所需的题数",
    "ui.needed_lead": (
        "按单侧 5%、检验力 80% 计算。数据增加后的第二次检验须用两阶段规则；直接重检会放大错误率。"
    ),
    "ui.needed_floor": "下限（无回答改变）",
    "ui.needed_equal": "若同样好",
    "ui.needed_observed": "按所见差值",
    "ui.needed_more": "需增加",
    "ui.methods": "方法",
    "ui.details": "运行详情",
    "ui.notes": "备注",
    "ui.skipped": "未包括",
    "ui.endpoints": "端点",
    "ui.tasksets": "题集",
    "ui.legend_gated": "纳入门禁",
    "ui.legend_alarm": "仅监测：配对太少，不作声明",
    "ui.legend_pooled": "全部类别，等权",
    "ui.legend_bars": "粗线 90%、细线 95% 区间",
    "ui.skip_link": "跳到结论",
    "ui.offline": "可离线使用，不从任何地方加载内容。",
    # Remedies
    "remedy.RAISE_MAX_TOKENS": (
        "提高 max_tokens 后重新运行：{baseline} 有 {baseline_n} 个、{candidate} 有 {candidate_n} "
        "个回答被截断（退步中有 {regressions} 个由此而来）。",
        "提高 max_tokens 后重新运行。",
    ),
    "remedy.CHECK_TEMPLATE": (
        "检查 {candidate} 的对话模板和停止串：带标记的回答为{flags}。",
        "检查 {candidate} 的对话模板和停止串：{n} 个回答中，空白、循环或无法读取的由 "
        "{baseline_n} 个变为 {candidate_n} 个。",
        "检查 {candidate} 的对话模板和停止串。",
    ),
    "remedy.RERUN_MISSING": (
        "再次运行同一条命令，重新询问没有回答的题目：{n} 个请求中 {baseline} 有 {baseline_n} 个、"
        "{candidate} 有 {candidate_n} 个没有回答（{reasons}）。要问的题目：{prompts}。",
        "再次运行同一条命令，重新询问没有回答的题目：{n} 个请求中 {baseline} 有 {baseline_n} 个、"
        "{candidate} 有 {candidate_n} 个没有回答（{reasons}）。",
        "再次运行同一条命令，重新询问没有回答的题目：{n} 个请求中 {baseline} 有 {baseline_n} 个、"
        "{candidate} 有 {candidate_n} 个没有回答。",
        "再次运行同一条命令，重新询问没有回答的题目。",
    ),
    "remedy.ROUTE_FAMILIES": (
        "按类别分流：{families}用 {candidate}，{kept}用 {baseline}。这一组合本身不劣（准确率 "
        "{difference} 个百分点，95% 置信区间 {low} 至 {high}，界值 {margin}）。它是在看到回答之后"
        "选定的：请用新题目确认。",
        "按类别分流：{families}用 {candidate}，{kept}用 {baseline}。",
    ),
    "remedy.ROUTE_UNPROVEN": (
        "按类别分流未获证明：{families}用 {candidate}、{kept}用 {baseline} 时，未能证明每个合并"
        "指标都不劣（准确率 {difference} 个百分点，95% 置信区间 {low} 至 {high}，界值 {margin}，"
        "{n} 对）。",
        "无法建议按类别分流：在校正多重选择之后，没有一个类别本身被证明不劣。",
    ),
    "remedy.LOWER_TEMPERATURE": (
        "二者都试用低于 {temperature} 的温度：退步 {regressions} 个，进步 {improvements} 个。",
        "试用更低的温度。",
    ),
    "remedy.CURB_LOOPS": (
        "用模型作者推荐的采样参数抑制循环：在温度 {temperature} 下，循环的回答由 {baseline_n} 个"
        "增至 {candidate_n} 个。",
        "用模型作者推荐的采样参数抑制循环。",
    ),
    "remedy.ADD_RETRIEVAL": (
        "用检索为模型提供事实：{families}的{metric}变化 {difference} 个百分点（95% 置信区间 "
        "{low} 至 {high}，{n} 对），主要是答错，而不是回答损坏。",
        "用检索为模型提供事实。",
    ),
    "remedy.MIXED_PRECISION": (
        "对敏感层保留更高精度（混合精度），或以低比特部署更大的模型：{families}都已受损（退步 "
        "{regressions} 个，进步 {improvements} 个）。",
        "对敏感层保留更高精度，或以低比特部署更大的模型。",
    ),
    "remedy.COMPARE_ANEW": (
        "换一个文件夹，用约 {anew} 道这里没有问过的题目重新比较：{most}有 {n} 对，而此方案不再允许"
        "检视。两阶段或序贯方案须在运行之前声明。",
        "换一个文件夹，用更多题目重新比较。",
    ),
    "remedy.ASK_STAGE_2": (
        "进行方案的第二阶段，约 {more} 道尚未问过的题目：同一条命令加上 --stage-2 {each}。",
        "进行方案的第二阶段。",
    ),
    "remedy.ASK_ON": (
        "再问约 {more} 道题：用更大的 --limit 再次运行同一条命令。{most}目前有 {n} 对，此方案允许"
        "任意次检视。",
        "再问更多题目。",
    ),
    "remedy.more_ids": "{prompts} 等，另有 {k} 道",
    "remedy.other": "{code}",
    # Marks of reviewers, in a served page
    "marking.score": "评分有误…",
    "marking.prompt": "题目有问题…",
    "marking.outcome": "此回答应为",
    "marking.correct": "正确",
    "marking.incorrect": "错误",
    "marking.abstained": "弃答",
    "marking.is_bad": "题目有问题",
    "marking.reason": "理由",
    "marking.reviewer": "你的姓名",
    "marking.save": "保存标记",
    "marking.cancel": "取消",
    "marking.withdraw": "撤回…",
    "marking.incomplete": "标记需要理由和姓名。",
    "marking.unsaved": "未保存。",
    "marking.unread": "无法读取标记。",
    "marking.count": "review.jsonl 中有 $n 条有效标记。",
    "marking.none": "review.jsonl 中没有有效标记。",
    "marking.one": "review.jsonl 中有 1 条有效标记。",
    "marking.again": "查看标记后的结论",
    # Review
    "ui.review": "人工评审",
    "ui.review_lead": "评审人已看到结果：以评审前的结论为准，标记只能撤回 SHIP。",
    "review.before": "评审前",
    "review.after": "评审后",
    "review.lead": "{n} 条标记中有 {applied} 条改变了评分或去掉了题目。",
    "review.one_sided": "它们全都有利于 {arm}。",
    "table.marks": "标记，按时间先后",
    "mark.prompt": "题目有问题",
    "mark.score": "{arm}：{before} → {after}",
    "mark.score_unknown": "{arm}：→ {after}",
    "mark.applied": "已生效",
    "mark.unchanged": "评分本已如此",
    "mark.stale": "回答已不是原来那条",
    "mark.withdrawn": "已撤回",
    "col.side": "评审",
    "col.hallucination": "幻觉率，百分点 [95%\u00a0CI]",
    "col.sample": "样本",
    "col.mark": "标记",
    "col.effect": "作用",
    "col.favours": "有利于",
    "col.reviewer": "评审人",
    "col.why": "理由",
    "col.when": "时间",
    # Length curves
    "lengths.prompt_length": "提示长度",
    "lengths.output_length": "基线回答长度",
    "lengths.tokens": "{title}（token 数）",
    "lengths.axis": "配对差值，百分点（阴影：95%\u00a0CI）",
    "lengths.description": "按长度的准确率配对差值。{told}。",
    # Slices
    "slice.family": "类别",
    "slice.category": "子类",
    "slice.language": "语言",
    "slice.prompt_length": "题目长度",
    "slice.output_length": "基线回答长度",
    "slice.difficulty": "难度",
    "slice_value.category": "{family}：{value}",
    "slice_value.tokens": "{value} 词元",
    "prompt_length.short": "短",
    "prompt_length.medium": "中",
    "prompt_length.long": "长",
    "difficulty.easy": "易",
    "difficulty.medium": "中",
    "difficulty.hard": "难",
    "slice.flagged": "此处更差",
    "slice.unflagged": "未标记",
    "slice.line": (
        "{dimension} {value}：{difference} 个百分点 {interval}，{n} 对，退步 : 进步 {flips}"
    ),
    "slices.found": "{tested} 个切片中有 {flagged} 个低于零且比其余更差（错误发现率 10%）。",
    "slices.none": "{tested} 个切片中没有一个低于零且比其余更差（错误发现率 10%）。",
    "slices.untested": "没有一个切片有足够的配对可供检验。",
    "slices.too_few": "本切片或其余部分配对太少，未作检验：{names}。",
    "slices.join": "、",
    "table.slices": "所有经过检验的切片",
    "table.flagged": "更差的切片",
    "col.length": "长度",
    "col.slice": "切片",
    "col.dimension": "划分依据",
    "col.pairs": "对数",
    "col.difference": "差值，百分点 [95%\u00a0CI]",
    "col.shrunken": "收缩估计",
    "col.flips": "退步 : 进步",
    "col.adjusted": "更差（BH）",
    "col.state": "判读",
    "method.slices.name": "切片",
    "method.slices": (
        "只看事先固定的划分。对每个切片作单侧检验：差值低于零，并且低于其余题目；取两个 p 值中较大"
        "者，对全部切片按 10% 作错误发现率校正（Benjamini & Hochberg, JRSS-B 57:289, 1995）。"
        "收缩估计按噪声大小把差值拉向均值：Efron & Morris, JASA 70:311 (1975)，方差取自 "
        "DerSimonian & Kacker, Contemporary Clinical Trials 28:105 (2007)。切片只作说明，"
        "不参与门禁。"
    ),
    "ui.remedies": "按此顺序处理",
    "ui.lengths": "随长度的变化",
    "ui.lengths_lead": (
        "提示变长或回答变长时，候选是否掉队？这里只作描述，不作检验：长度与题型、难度相关联。"
        "空心点表示不足 10 对。"
    ),
    "ui.as_table": "以表格显示",
    "ui.slices": "切片",
    # 并列的策略，以及缺失的回答
    "ui.policies": "不止一个策略",
    "ui.policies_lead": "门禁以运行前确定的策略为准；另一策略只能撤销“可以发布”。",
    "policy.declared": "运行之前，{arms}",
    "policy.later": "运行之后",
    "policy.unknown": "其数值未知",
    "policy.gates": "（门禁）",
    "ui.missing": "缺失回答的可能影响",
    "ui.missing_lead": (
        "差值及检验所用的 90% 区间：只看完整配对；所有缺失都算候选答错；缺失对双方都算失败"
        "（不计入门禁）；所有缺失都算对候选有利。最后一列是候选的缺失回答中至少有几个答错就不再"
        "不劣。"
    ),
    "col.policy": "策略",
    "col.fixed": "确定时间",
    "col.verdict": "判定",
    "col.changes": "改动的数值",
    "col.metric": "指标",
    "col.missing": "缺失",
    "col.complete": "完整配对",
    "col.worst": "最坏情形",
    "col.itt": "算作失败",
    "col.best": "最好情形",
    "col.tipping": "临界个数",
    "plan.single": "一次检视",
    "plan.two-stage": "两阶段",
    "plan.sequential": "序贯",
    "method.plans.name": "检视次数",
    "method.plans": (
        "检视方案在运行前确定，比较文件夹中的账本记录次数。一次检视使用得分检验。两阶段方案中，第一"
        "阶段只有在 p 不超过水平的十分之一时才通过，否则看两个阶段的合并，第二阶段只用新题，等权重"
        "（逆正态合并：Bauer & Köhne, Biometrics 50:1029, 1994；Cui, Hung & Wang, Biometrics "
        "55:853, 1999）；此时区间描述全部配对。序贯方案用下注法（Waudby-Smith & Ramdas, JRSS-B "
        "86:1, 2024）：其 p 值和区间在任意次检视下同时成立。由模型评审时，界值按 J（灵敏度加特异度"
        "减 1）缩小，并计入校准本身的误差（Rogan & Gladen, American Journal of Epidemiology "
        "107:71, 1978）。"
    ),
    # Performance
    "gains.by_product": "本次运行的副产品，不是性能基准。",
    "gains.measured": (
        "对这些构建的性能探测，除另注明外为 {where}；变化为成对轮次的中位数，95%\u00a0置信区间。"
    ),
    "spec.of_group": "（{group}）",
    "spec.comma": "、",
    "spec.stop": "；",
    "spec.table.routes": "哪些请求应当使用推测解码{group}",
    "spec.table.findings": "推测解码的影响{group}",
    "spec.table.acceptance": (
        "被接受的草稿词元{group}：比例［按提示聚类的 95%\u00a0置信区间］；"
        "按位置：该位置词元被接受的草稿所占比例"
    ),
    "spec.table.alone": (
        "逐个请求{group}：开 ÷ 关，按提示配对［95%\u00a0置信区间，自助法］，以及中位数"
    ),
    "spec.table.loads": "混合负载{group}：吞吐 开 ÷ 关，按轮配对［95%\u00a0置信区间，自助法］",
    "spec.table.contexts": "不同提示长度的首词元延迟{group}：开 ÷ 关",
    "spec.col.case": "请求",
    "spec.col.choice": "使用",
    "spec.col.why": "依据",
    "spec.col.arm": "部分",
    "spec.col.what": "项目",
    "spec.col.finding": "结论",
    "spec.col.work": "工作类型",
    "spec.col.rate": "接受率",
    "spec.col.places": "按草稿位置",
    "spec.col.a_step": "每步词元",
    "spec.col.drafted": "草稿词元",
    "spec.col.source": "来源",
    "spec.col.decode_ratio": "解码 ÷ 关",
    "spec.col.ttft_ratio": "首词元延迟 ÷ 关",
    "spec.col.decode": "解码，词元/秒",
    "spec.col.ttft": "首词元延迟",
    "spec.col.answered": "已回答",
    "spec.col.load": "负载",
    "spec.col.throughput_ratio": "吞吐 ÷ 关",
    "spec.col.throughput": "吞吐，词元/秒",
    "spec.col.prompt": "提示",
    "spec.source.metrics": "服务器指标",
    "spec.source.timings": "回答中的计时",
    "spec.lifetime": "{label}：本次测量之前",
    "spec.in_flight": "{label}：{level} 路并发",
    "spec.at_tokens": "{label}：{tokens} 词元",
    "spec.case.interactive": "单用户交互，逐个请求",
    "spec.case.long_prompt_short_answer": "长提示、短回答",
    "spec.case.batch": "批量：多路并发",
    "spec.case.short_reasoning": "短推理",
    "spec.case.code_review": "代码审查",
    "spec.case.long_output": "长文输出",
    "spec.case.tool_results": "阅读工具结果",
    "spec.case.long_input": "长输入",
    "spec.case.templated_code": "模板化代码",
    "spec.metric.decode": "解码速度",
    "spec.metric.answer": "到第 {tokens} 个词元结束的时间",
    "spec.metric.throughput": "吞吐",
    "spec.why.faster": "{metric} ÷ 关：{ratios}；{choice} 已证明更好",
    "spec.why.deeper": "{metric} ÷ 关：{ratios}；{choice} 已证明更好",
    "spec.why.deeper.ratio": "较深的草稿优于较浅的：{ratio}",
    "spec.why.not_deeper.ratio": "未能证明较深的草稿优于较浅的：{ratio}",
    "spec.why.one_depth": "未测量其他深度",
    "spec.why.slower": "{metric} ÷ 关：{ratios}；推测解码更差",
    "spec.why.unclear": "{metric} ÷ 关：{ratios}；未显示收益，因此取更简单者",
    "spec.why.careful": "{metric} ÷ 关：{ratios}；在时间主要花在提示上时未显示收益",
    "spec.why.few": "{metric} ÷ 关：{ratios}；配对太少，无法下结论（至少六对）",
    "spec.why.not_measured": "未测量",
    "spec.why.ttft": "首词元延迟 ÷ 关：{ratios}",
    "spec.why.acceptance": "接受率：{rates}",
    "spec.why.where": "{why}{where}",
    "spec.where.context": "（{context} 词元，{level} 路并发）",
    "spec.where.level": "（{level} 路并发）",
    "spec.what.crossover": "并发交叉点",
    "spec.what.equality": "温度 0 下的文本",
    "spec.what.memory": "增加的内存",
    "spec.what.quality": "配对的质量",
    "spec.memory": "{size}（{source}）",
    "spec.crossover.between": (
        "并发不超过 {faster} 时更快，从 {slower} 起更慢；约在 {at} 处相等。",
        "并发不超过 {faster} 时更快，从 {slower} 起更慢。",
    ),
    "spec.crossover.none": "未测到交叉点：直到 {faster} 路并发都更快。",
    "spec.crossover.always_slower": "在所有测量的负载下都更慢，从 {slower} 路并发起。",
    "spec.crossover.unclear": "未测到交叉点：各负载下没有一致而明显的差异。",
    "spec.crossover.unclear.faster": "未测到交叉点：不超过 {faster} 路并发时更快，其上不明确。",
    "spec.crossover.unclear.slower": "未测到交叉点：从 {slower} 路并发起更慢，其下没有明显收益。",
    "spec.crossover.not_measured": "未测量：这需要两种负载，各至少六轮。",
    "spec.equality.equal": "全部 {n} 个与不使用推测解码时相同。",
    "spec.equality.beyond": (
        "变化超出噪声基线：{n} 个中有 {different} 个不同；"
        "不使用推测解码重复询问时 {n} 个中有 {noise} 个；"
        "超出 {excess} 个百分点。文本前 {agreement} 相同（不同者的中位数）。",
        "变化超出噪声基线：{n} 个中有 {different} 个不同，自身有 {noise} 个。",
    ),
    "spec.equality.within": (
        "{n} 个中有 {different} 个不同，不使用推测解码重复询问时 {noise} 个：未能证明超出噪声基线；"
        "差 {excess} 个百分点。",
        "{n} 个中有 {different} 个不同，自身有 {noise} 个。",
    ),
    "spec.equality.not_measured": "未测量。",
    "ui.performance": "性能",
    "perf.lead": (
        "测于 {date}：每个测点轮流测 {repeats} 轮，每个回答 {tokens} 个词元，"
        "词元数以服务器计数为准。p50 [95%\u00a0置信区间]；数据不足以给出界限处为短横线。"
    ),
    "perf.where.closed": "{context} 词元，并发 {level}",
    "perf.where.open": "{context} 词元，每秒随机到达 {level} 个请求",
    "perf.table.served": "吞吐与失败。{slo}",
    "perf.at.context": "，{context} 词元",
    "perf.at.level": "，并发 {level}",
    "perf.col.verdict": "结论",
    "perf.col.accuracy": "准确率，百分点",
    "perf.col.front": "帕累托前沿",
    "perf.front.on": "在前沿上",
    "perf.table.front": "质量与速度、内存（{where}；吞吐取最大并发）",
    "perf.per_second": "{rate}/秒",
    "perf.target": "合格请求须满足 {target}。",
    "perf.join": "；",
    "perf.other_build": "未采用 performance.json：其中测量的 {endpoint} 与此处比较的不是同一构建。",
    "perf.metric.ttft": "首词元延迟",
    "perf.metric.itl": "词元间延迟",
    "perf.metric.tpot": "每词元时间",
    "perf.metric.e2e": "端到端延迟",
    "perf.metric.decode": "解码速度",
    "perf.metric.prefill": "预填充速度",
    "perf.metric.throughput": "吞吐",
    "perf.col.point": "测点",
    "perf.col.what": "延迟",
    "perf.col.round": "轮次",
    "perf.col.ttft": "首词元延迟",
    "perf.col.itl": "词元间延迟",
    "perf.col.decode": "解码，词元/秒",
    "perf.col.prefill": "预填充，词元/秒",
    "perf.col.e2e": "端到端延迟",
    "perf.col.throughput": "吞吐，词元/秒",
    "perf.col.requests": "请求/秒",
    "perf.col.answered": "已回答",
    "perf.col.goodput": "有效吞吐",
    "perf.col.cost": "每百万词元成本",
    "perf.col.arm": "端点",
    "perf.col.peak": "内存峰值",
    "perf.col.source": "来源",
    "perf.col.processes": "进程数",
    "perf.table.ratios": "候选 ÷ {baseline}：成对轮次比值的中位数 [95%\u00a0置信区间，自助法]",
    "perf.table.medians": "中位数 [95%\u00a0置信区间]",
    "perf.table.tails": "延迟：p50、p90、p95、p99 [95%\u00a0置信区间]",
    "perf.table.rounds": "首轮为异常值的测点，以及替代它计入的轮次",
    "perf.table.memory": "内存峰值",
    "perf.round.first": "首次测量",
    "perf.round.again": "重新测量",
    "perf.memory.processes": "服务器进程的常驻内存",
    "perf.memory.growth": "承载引擎的进程的增长",
    "perf.memory.metrics": "服务器自报指标",
    "perf.memory.nvidia-smi": "nvidia-smi 读数",
    "perf.bought.decode": "解码速度为 {ratio}{where}",
    "perf.bought.ttft": "首词元延迟为 {ratio}{where}",
    "perf.bought.throughput": "吞吐为 {ratio}{where}",
    "perf.bought.memory": "内存峰值为 {ratio}",
    "perf.trade": (
        "{candidate} 相对基线换得：{gains}；代价：{price}。{same}",
        "{candidate} 相对基线换得：{gains}。{same}",
    ),
    "perf.trade.nothing": (
        "{candidate} 相对基线：所测各项均无收益；代价：{price}。{same}",
        "{candidate} 相对基线：所测各项均无收益。{same}",
    ),
    "perf.same": "无明显差异：{facts}。",
    "perf.price": "准确率 {difference} 个百分点 {interval}",
    "perf.bought.cost": "每词元成本为 {ratio}{where}",
    "perf.bought.weights": "权重大小为 {ratio}",
    "perf.bought.needed": "按容量规划所需内存为 {ratio}",
    "gains.counted": "所需内存由容量规划算出。",
    "fits.row": "所需内存，{context} 词元 × {concurrency}",
    "fits.row.device": "一台 {device} 设备可容纳",
    "fits.yes": "✓ 是",
    "fits.no": "✗ 否",
    "fits.gained": "一台 {device} 设备可容纳它（{context} 词元 × {concurrency}），基线则不能",
    "fits.lost": "一台 {device} 设备无法容纳它（{context} 词元 × {concurrency}），基线则可以",
    "fits.both": "{needed}（一台 {device} 设备均可容纳，{context} 词元 × {concurrency}）",
    "fits.neither": "{needed}（一台 {device} 设备均无法容纳，{context} 词元 × {concurrency}）",
    "fits.alone.yes": "一台 {device} 设备可容纳它（{context} 词元 × {concurrency}）；基线未计算",
    "fits.alone.no": "一台 {device} 设备无法容纳它（{context} 词元 × {concurrency}）；基线未计算",
    "fits.not": (
        "按容量规划，一台 {device} 设备无法容纳 {endpoint}（{context} 词元 × {concurrency}）：需要 "
        "{needed}。"
    ),
    "fits.AMBIGUOUS": (
        "对 {endpoint} 未采用 capacity.json：其名称与量化方式指向不同格式（{names}）。请用 evalkit "
        "capacity --as 指明。"
    ),
    "fits.OTHER_SIZE": "对 {endpoint} 未采用 capacity.json：其权重大小与按 {names} 计算的不符。",
    "fits.UNMATCHED": (
        "未采用 capacity.json：其中的格式（{names}）都不属于此处的端点。请用 evalkit capacity --as "
        "指明。"
    ),
    "perf.col.needed": "所需内存",
    "perf.front.off": "各项均不及 {names}",
    "perf.front.near": "仅凭准确率在前沿上，而置信区间无法将其与 {names} 区分",
    "perf.remark.CAPPED": (
        "要求 {asked} 词元；端点最多容纳 {limit}（提示与回答合计），因此测量了 {context}。"
    ),
    "perf.remark.LEFT_OUT": "略去 {asked} 词元：端点最多容纳 {limit}，由 {context} 代表。",
    "perf.remark.NOT_INTERLEAVED": "各服务器先后测量而非轮流：机器的漂移未被抵消。",
    "perf.remark.SPECULATES_TOO": (
        "{endpoint} 被指定为不使用推测解码的一方，却仍在起草词元：与之相比的结论均不成立。"
    ),
    "perf.remark.NOTHING_DRAFTED": "{endpoint} 统计草稿词元，但此处没有起草。",
    "perf.remark.NO_COUNTS": ("{endpoint} 在 /metrics 和回答中都不报告草稿词元：没有接受率。"),
    "perf.remark.OTHER_TRAFFIC": (
        "{endpoint} 在 {prompts} 个提示期间也回答了别人；当时的指标计数不计入。"
    ),
    "perf.remark.SET_BACK": (
        "{endpoint}：在 {prompts} 个提示期间计数器被重置（重启？）；当时的计数不计入。"
    ),
    "perf.remark.OMITTED": "{endpoint} 拒绝 {fields}；其请求不含这些字段。",
    "perf.remark.ENDS_EARLY": "{endpoint} 不接受 ignore_eos：回答可能提前结束。",
    "perf.remark.SHORT_ANSWERS": "{endpoint} 的回答在 {asked} 个词元中的第 {tokens} 个后结束。",
    "perf.remark.NO_USAGE": "{endpoint} 不报告回答的词元数：不给出速度。",
    "perf.remark.NO_ANSWER": "{endpoint} 对所测请求均未作答。",
    "perf.remark.NOT_STREAMED": "{endpoint} 未逐段传来文本：没有首词元延迟和解码速度。",
    "perf.remark.IN_ONE_PIECE": (
        "{endpoint} 的回答一次性到达（是否有代理缓冲了流？）：没有解码速度，"
        "其首词元延迟即整个回答的时间。"
    ),
    "perf.remark.MEASURED_AGAIN": (
        "{endpoint}，{context} 词元，负载 {load}：首轮为异常值（{first}），"
        "已重新测量（{again}）并以后者计入。"
    ),
    "perf.remark.POINT_FAILED": "{endpoint}，{context} 词元，负载 {load}：没有回答（{kinds}）。",
    "perf.remark.UNSTEADY": "{endpoint}，{context} 词元，负载 {load}：预热未达到稳定。",
    "perf.remark.OTHER_LENGTH": (
        "{endpoint}，负载 {load}：{context} 词元的提示被计为 {counted} 词元。"
    ),
    "perf.remark.LATE": (
        "{endpoint}，{context} 词元，负载 {load}：有请求晚发出 {late}，已计入其延迟。"
    ),
    "perf.remark.RESENT": "{endpoint}：{n} 个请求遇到已关闭的连接，立即重发；计时未中断。",
    "perf.remark.PREFIX_CACHE": "提示有意共享开头：前缀缓存会起作用。",
    "perf.remark.NO_MEMORY": "无法从此处读取 {endpoint} 的内存。",
    # Going live
    "golive.title": "上线检查单：以 {candidate} 取代 {baseline}",
    "golive.draft": "草稿，不可用于发布：结论为{state}。",
    "golive.before": "上线之前",
    "golive.canary": "灰度",
    "golive.watch": "观察",
    "golive.back": "回退",
    "golive.serve": "部署的必须正是所比较的 {endpoint}：{identity}。",
    "golive.sampling": "按此处的方式请求：{sampling}。",
    "golive.fits": (
        "可容纳：按容量规划，一台 {device} 设备（{context} 词元 × {concurrency}）需要 {needed}。"
    ),
    "golive.fits_not": (
        "无法容纳：按容量规划，一台 {device} 设备（{context} 词元 × {concurrency}）需要 {needed}。"
    ),
    "golive.no_capacity": (
        "能否容纳：未计算。请执行：evalkit capacity MODEL --context N --concurrency N --device "
        "SIZE -o FOLDER。"
    ),
    "golive.no_soak": "长时间负载：未测量。请执行：evalkit soak。",
    "golive.soak": "长时间负载：{ran} 内稳定（soak.json）。",
    "golive.soak.open": (
        "长时间负载：{ran} 内未发现问题，但时间太短，尚不能排除：{names}。请延长测试。"
    ),
    "golive.soak.bad": "长时间负载：{ran} 内不稳定。请先查看 evalkit soak 的结果。",
    "golive.split": (
        "两侧各有 {n} 个评过分的请求后，达到界值的损失（自 {accuracy} 下降 {margin} 个百分点）有 80"
        "% 的机会被发现（两独立样本，单侧 5%）。"
    ),
    "golive.mirrored": (
        "若镜像流量、每个请求两侧都回答，{pairs} 个请求即可（翻转频率与此处相同的成对样本）。"
    ),
    "golive.no_traffic": (
        "比例与时长：未给出流量。请用 --traffic 给出每小时可评分的请求数；{hours} 小时内须有 {n} 个"
        "到达灰度侧。"
    ),
    "golive.share": (
        "将每小时 {traffic} 个请求的 {share} 导向它，至少 {hours} 小时。最坏情况下（所测损失的上界 "
        "{loss} 个百分点）代价为 {wrong} 个正确回答。",
        "将每小时 {traffic} 个请求的 {share} 导向它，至少 {hours} 小时。",
    ),
    "golive.no_canary": (
        "灰度规模：无法给出，因为基线答对太少，不足以损失界值。请用它能回答的提示重新比较。"
    ),
    "golive.no_rules": "延迟、吞吐、内存与错误：没有阈值。{why}",
    "golive.rules": "在第一个请求之前载入 evalkit alerts 的规则；阈值见下表。",
    "golive.other_engine": (
        "规则读取 {engine} 的指标，而实测的是 {measured}：可用 --engine 指定。",
        "规则读取 {engine} 的指标，而端点未告知其引擎。",
    ),
    "golive.left.probe": "{what}：未测量。请执行：evalkit probe，输出到此文件夹。",
    "golive.left.elsewhere": (
        "内存：服务器不导出。请在其他导出器上以 {limit}（实测峰值加余量）为告警阈值。"
    ),
    "golive.left.acceptance": "{what}：未测量。若使用草稿，请给出实测值：--acceptance SHARE。",
    "golive.widest": "所知最少的类别（区间最宽）：{families}。",
    "golive.family": "{family} {difference} 个百分点，{n} 对",
    "golive.causes": "此处的退步原因：{causes}。请先查看此类回答。",
    "golive.slices": "突出的切片：{slices}。",
    "golive.limits": "阈值：实测值加 {headroom} 余量",
    "golive.col.what": "项目",
    "golive.col.measured": "实测",
    "golive.col.limit": "告警阈值",
    "golive.col.hold": "持续",
    "golive.col.from": "来源",
    "golive.at": "探测：{context} 词元，负载 {level}",
    "golive.from.measured": "实测",
    "golive.from.given": "设定值，非实测",
    "golive.of.ttft": "首词元延迟",
    "golive.of.itl": "词元间延迟",
    "golive.of.decode": "解码速度",
    "golive.of.prefill": "预填充速度",
    "golive.of.throughput": "负载下的吞吐",
    "golive.of.memory": "常驻内存",
    "golive.of.kv_cache": "KV 缓存占用",
    "golive.of.preemptions": "抢占",
    "golive.of.errors": "失败请求",
    "golive.of.restarts": "重启",
    "golive.of.acceptance": "草稿接受率",
    "golive.target.earlier": (
        "目标：{endpoint}，此前最近一次通过的发布（{date}，{folder}）：{identity}。保持已加载或随时"
        "可启动。"
    ),
    "golive.target.baseline": (
        "目标：{endpoint}，本次比较的基线（未知更早的发布；可用 --history DIR 查找）：{identity}。"
        "保持已加载或随时可启动。"
    ),
    "golive.no_target": "目标：未知。请用 --history 指明此前比较所在的文件夹。",
    "golive.trigger": (
        "两侧各有 {n} 个评过分的请求时，若灰度侧的正确率比另一侧低 {points} 个百分点或更多，则回退"
        "：两侧相等时仅有 5% 的机会如此。"
    ),
    "golive.degenerate": (
        "若 {n} 个回答中有超过 {most} 个为空、循环或格式损坏，则回退：此处为 {seen}；"
        "即使按其上界 {limit} 计，也至多有 5% 的机会如此。"
    ),
    "golive.critical": "出现以下任一告警立即回退：{rules}。",
    "golive.rehearse": "在第一个请求之前演练一次回退，并记下所需时间。",
    "golive.footer": "evalkit {version} · 比较于 {date}",
    "ui.golive": "上线检查单",
    "ui.golive_missing": "缺失",
    "ui.soak": "长稳测试",
    "ui.soak_findings": "发现的问题",
    "ui.soak_remarks": "须知",
    "ui.soak_charts": "随时间变化",
    "ui.soak_settings": "测试方式",
    "soak.state.stable": "稳定",
    "soak.state.open": "未发现问题",
    "soak.state.unstable": "不稳定",
    "soak.state.unmeasured": "未能测量",
    "soak.sentence.stable": (
        "{endpoint} 在 {ran} 的负载中保持稳定：{n} 个请求，{failed} 个失败；未发现内存泄漏、变慢、"
        "重启或回答变化。"
    ),
    "soak.sentence.open": ("{endpoint} 在 {ran} 的负载中未发现问题：{n} 个请求，{failed} 个失败。"),
    "soak.sentence.unstable": "{endpoint} 在 {ran} 的负载中（{n} 个请求）未能保持稳定：{findings}",
    "soak.sentence.unmeasured": "无法对 {endpoint} 下结论：{ran} 内只有 {n} 个请求得到回答。",
    "soak.open": "时间太短，尚不能排除：{names}。请延长测试。",
    "soak.finding.DOWN": "服务在 {began} 之后停止响应，未恢复。",
    "soak.finding.OUTAGE": "服务从 {began} 到 {ended} 没有任何回答。",
    "soak.finding.RESTART": "服务在 {at} 重新启动（{signs}：{detail}）。",
    "soak.finding.CHANGED": "自 {at} 起，服务的自我描述发生变化：{detail}。",
    "soak.finding.LEAK": "内存泄漏（{name}）：预热后 {slope} {interval}，{span} 内增加 {rise}。",
    "soak.finding.SLOWER": (
        "服务变慢（{name}）：预热后 {slope} {interval}，{span} 内增加 {rise}（按相同长度的回答）。"
    ),
    "soak.finding.FEWER": "吞吐下降：预热后 {slope} {interval}，{span} 内共 {rise}。",
    "soak.finding.FAILURES": "{n} 个请求中有 {failed} 个失败：{share} {interval}（{kinds}）。",
    "soak.finding.BURST": (
        "{began} 到 {ended} 出现失败突发：{n} 个请求中 {failed} 个失败（{kinds}；"
        "相对其余时间的失败率 {pvalue}）。"
    ),
    "soak.finding.ANSWERS": (
        "固定提示（{prompt}，温度 0）的回答在 {at} 发生变化（相对其自身噪声 {pvalue}）："
        "“{before}” → “{after}”。"
    ),
    "soak.finding.UNMEASURED": "只有 {n} 个请求得到回答。",
    "soak.remark.RESUMED": "测试在 {at} 中断后继续；停顿不计入。",
    "soak.remark.SKIPPED": "因并发已满，{n} 个到达的请求被略去：在此并发下服务跟不上该速率。",
    "soak.remark.NO_MEMORY": (
        "无法从此处读取其内存：服务在另一台机器上，且 /metrics 没有 process_resident_memory_bytes。"
        "无法发现内存泄漏。"
    ),
    "soak.remark.SHARED_PROCESS": "引擎与 evalkit 同一进程：内存为两者之和。",
    "soak.remark.SHORTER": "计划 {asked}，实际运行 {ran}。",
    "soak.remark.OPEN": "{name}：{slope} {interval}。{ran} 不足以排除上限 {limit}。",
    "soak.remark.SETTLING": (
        "{name}仍在增长，但越来越慢，像缓存一样：{slope} {interval}。是否停止增长，需要更长的测试。"
    ),
    "soak.remark.UNKNOWN": "{name}：测量太少，无法判断趋势。",
    "soak.name.memory.processes": "服务进程的内存",
    "soak.name.memory.growth": "evalkit 进程（内含引擎）的内存",
    "soak.name.memory.gpu": "GPU 显存",
    "soak.name.memory.metrics": "服务自报的内存",
    "soak.name.latency": "端到端时间",
    "soak.name.first_token": "首个词元时间",
    "soak.name.throughput": "吞吐",
    "soak.trend.found": "✗ 已证实且超过上限",
    "soak.trend.settling": "! 增长越来越慢",
    "soak.trend.open": "! 尚不能排除",
    "soak.trend.steady": "✓ 低于上限",
    "soak.trend.unknown": "– 测量太少",
    "soak.sign.process": "进程不同",
    "soak.sign.launch": "服务已结束",
    "soak.sign.start_time": "启动时间不同",
    "soak.sign.counters": "计数器回落",
    "soak.sign.identity": "身份不同",
    "soak.col.what": "指标",
    "soak.col.slope": "增长",
    "soak.col.limit": "上限",
    "soak.col.level": "起始水平",
    "soak.col.rise": "增量",
    "soak.col.counted": "计入时段",
    "soak.col.verdict": "结论",
    "soak.col.prompt": "提示",
    "soak.col.n": "询问次数",
    "soak.col.texts": "不同回答",
    "soak.col.p": "是否变化",
    "soak.table.trends": "预热后的增长 [98% 置信区间或更宽：所有问题共担 5% 的误报]",
    "soak.table.answers": "温度 0 的固定提示，相对其自身噪声",
    "soak.table.failures": "未得到回答的请求，按类型",
    "soak.col.kind": "类型",
    "soak.col.count": "请求数",
    "soak.counted": "{settled} 至 {end}",
    "soak.per_minute": "{size}/分钟",
    "soak.per_hour": "{share}/小时",
    "soak.chart.memory": "{name}，每个窗口的最小值",
    "soak.chart.latency": "端到端时间 ÷ 同样词元数的通常时间",
    "soak.chart.first_token": "首个词元时间 ÷ 同样词元数的通常时间",
    "soak.chart.throughput": "吞吐，词元每秒",
    "soak.chart.told": "{title}：{ran} 内从 {first} 到 {last}。{verdict}。",
    "soak.chart.warm_up": "预热",
    "soak.chart.restart": "重启",
    "soak.lead": (
        "开始于 {date}；最多 {concurrency} 个并发请求，提示 {prompt} 词元，回答 {output} 词元，"
        "中英文。"
    ),
    "soak.threat.found": "{endpoint} 的长稳测试：不稳定。{findings}",
    "soak.threat.stable": "{endpoint} 的长稳测试：{ran} 内稳定。",
    "soak.threat.open": (
        "{endpoint} 的长稳测试：{ran} 内未发现问题，时间太短，尚不能排除：{names}。"
    ),
    "soak.other_build": "未采用 soak.json：它测试的 {endpoint} 不是此处比较的任何一方。",
    "soak.advice": "但 {endpoint} 未通过长稳测试：发布前请查明原因。",
}
