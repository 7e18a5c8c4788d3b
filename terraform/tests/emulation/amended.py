"""What moto does otherwise than AWS where terraform/ meets it, put right: things that were deleted may come again under
their names, and a backup plan may change.
"""

import json

from moto.backup.models import BackupBackend, Plan
from moto.backup.responses import BackupResponse
from moto.rds.models import DBInstance
from moto.route53.models import Route53Backend


def amend() -> None:
    """Changes moto in this process."""
    DBInstance.remove_replica = remove_replica
    BackupBackend.delete_backup_plan = deleting_plans(BackupBackend.delete_backup_plan)
    BackupResponse.update_backup_plan = update_backup_plan
    Route53Backend.change_resource_record_sets = changing_records(Route53Backend.change_resource_record_sets)


def remove_replica(primary: DBInstance, replica: DBInstance) -> None:
    """moto knows a replica in another region by its ARN, and looks for its name when it is deleted: that fails with 500
    when all is done, and only a second attempt succeeds."""
    names = (replica.db_instance_identifier, replica.db_instance_arn)
    primary.replicas = [name for name in primary.replicas if name not in names]


def deleting_plans(original):
    """moto keeps a deleted plan, and refuses another one of its name."""

    def delete_backup_plan(backend: BackupBackend, backup_plan_id: str):
        answer = original(backend, backup_plan_id)
        del backend.plans[backup_plan_id]
        return answer

    return delete_backup_plan


def update_backup_plan(response: BackupResponse) -> str:
    """moto has no such call. As in AWS the plan keeps its identifier and gets a new version."""
    backend = response.backup_backend
    plan = backend.get_backup_plan(response.path.rstrip("/").split("/")[-1], None)
    changed = Plan(json.loads(response.body)["BackupPlan"], plan.creator_request_id, backend)
    plan.backup_plan, plan.version_id = changed.backup_plan, changed.version_id
    plan.advanced_backup_settings = changed.advanced_backup_settings
    return json.dumps(plan.to_dict())


def changing_records(original):
    """moto refuses a record that is the same as one that was deleted, as long as any record follows it."""

    def which(change: dict) -> tuple:
        record = change["ResourceRecordSet"]
        return record["Name"].strip("."), record["Type"], record.get("SetIdentifier")

    def change_resource_record_sets(backend: Route53Backend, zoneid: str, change_list: list) -> None:
        original(backend, zoneid, change_list)
        deleted = {which(change) for change in change_list if change["Action"] == "DELETE"}
        journal = backend.get_hosted_zone(zoneid).rr_changes
        journal[:] = [change for change in journal if which(change) not in deleted]

    return change_resource_record_sets
