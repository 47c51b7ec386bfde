"""A group or a tag of the installed lm_eval: its members, and the means that the harness takes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from nel.errors import ConfigError, did_you_mean
from nel_lm_eval.tasks import Address, entry_of, is_task, load_task, metric_name


class LoadedGroup:
    """The members of a group or a tag, and the means that the harness takes over them."""

    def __init__(self, address: Address, entry: Mapping[str, Any]) -> None:
        """Check that nel can ask and count every member.

        Raises:
            ConfigError: It cannot run some of them, or `Address.without` names one that is not there.
        """
        names = entry["tasks"]
        for name in address.without:
            if name not in names:
                raise ConfigError(
                    f"{address.task} has no member {name}{did_you_mean(name, names)}; correct without"
                )
        self.address = address
        self.groups = [group for group in entry["groups"].values() if group.has_aggregation]
        self.members = {}
        problems = []
        for name in names:
            if name in address.without:
                continue
            member = replace(address, task=name, group=address.task, without=())
            try:
                self.members[name] = load_task(member)
            except ConfigError as error:
                problems.append((name, str(error)))
        if problems:
            reasons = "; ".join(dict.fromkeys(reason for _, reason in problems))
            raise ConfigError(
                f"nel cannot run {len(problems)} of the {len(names)} members of {address.task}:"
                f" {reasons}. Leave them out with without={','.join(name for name, _ in problems)}"
            )

    def means(self) -> Iterator[tuple[str, str, list[str], bool]]:
        """Yield the title, the metric, the members and whether these weigh by their size, of each
        mean of the group and of groups in it. As the harness does, a mean is of the tasks that have
        the metric; where not all do, its title says of how many it is.
        """
        for group in self.groups:
            names = [task.task_name for task in group.get_all_tasks()]
            members = [name for name in names if name in self.members]
            left_out = [name for name in names if name in self.address.without]
            title = group.alias or group.name
            if left_out:
                title += f" without {', '.join(left_out)}"
            filters = {pipeline for name in members for pipeline in self.members[name].filters}
            for rule in group.aggregate_metric_list:
                for pipeline in rule.filter_list or sorted(filters):
                    metric = metric_name(rule.metric, pipeline)
                    task_names = [name for name in members if metric in self.members[name].metrics]
                    if not task_names:
                        continue
                    share = ""
                    if len(task_names) < len(members):
                        share = f" ({len(task_names)} of {len(members)} tasks)"
                    yield title + share, metric, task_names, rule.weight_by_size


def load_group(address: Address) -> LoadedGroup | None:
    """Return the group or tag of the installed lm_eval that an address names; None for a task.

    Raises:
        MissingExtra: lm_eval is not installed.
        ConfigError: There is none of that name, or nel cannot run some of its members.
        DatasetError: The data set of a member cannot be had.
    """
    if address.group is not None or is_task(address):
        return None
    return LoadedGroup(address, entry_of(address))
