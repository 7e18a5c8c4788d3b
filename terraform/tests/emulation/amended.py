"""What moto does otherwise than AWS where terraform/ meets it, put right: things that were deleted may come again under
their names, a backup plan may change, a promoted replica has no source, and automated backups are copied to another
region, where a database is restored from them.
"""

import json
import uuid

from moto.backup.models import BackupBackend, Plan
from moto.backup.responses import BackupResponse
from moto.core.responses import ActionResult
from moto.ec2.models.nat_gateways import NatGatewayBackend
from moto.iam.access_control import PermissionResult
from moto.rds.exceptions import DBInstanceNotFoundError
from moto.rds.models import DBInstance, RDSBackend
from moto.rds.responses import RDSResponse
from moto.route53.models import Route53Backend
from moto.s3.models import FakeBucket


def amend() -> None:
    """Changes moto in this process."""
    DBInstance.remove_replica = remove_replica
    BackupBackend.delete_backup_plan = deleting_plans(BackupBackend.delete_backup_plan)
    BackupResponse.update_backup_plan = update_backup_plan
    Route53Backend.change_resource_record_sets = changing_records(Route53Backend.change_resource_record_sets)
    RDSBackend.promote_read_replica = promoting(RDSBackend.promote_read_replica)
    RDSResponse.start_db_instance_automated_backups_replication = start_copies
    RDSResponse.stop_db_instance_automated_backups_replication = stop_copies
    RDSResponse.describe_db_instance_automated_backups = describe_copies
    RDSResponse.restore_db_instance_to_point_in_time = restore_copies
    FakeBucket.get_permission = over_tls
    NatGatewayBackend.delete_nat_gateway = freeing_addresses(NatGatewayBackend.delete_nat_gateway)


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


def promoting(original):
    """moto goes on naming the source of a replica that was promoted."""

    def promote_read_replica(backend: RDSBackend, db_kwargs: dict) -> DBInstance:
        database = backend.databases[db_kwargs["db_instance_identifier"]]
        if database.is_replica:
            try:
                backend.find_db_from_id(database.source_db_instance_identifier).remove_replica(database)
            except DBInstanceNotFoundError:
                pass
        promoted = original(backend, db_kwargs)
        promoted.source_db_instance_identifier = None
        return promoted

    return promote_read_replica


def freeing_addresses(original):
    """moto goes on holding the address of a gateway that is gone."""

    def delete_nat_gateway(backend: NatGatewayBackend, nat_gateway_id: str):
        gateway = original(backend, nat_gateway_id)
        for address in backend.address_by_allocation([a["allocationId"] for a in gateway.address_set]):
            address.eni = address.association_id = None
        return gateway

    return delete_nat_gateway


def over_tls(bucket: FakeBucket, action: str, resource: str):
    """moto denies what a policy denies to plain HTTP, and speaks nothing else here."""
    return PermissionResult.NEUTRAL


def copies(response: RDSResponse) -> dict:
    """Copies of automated backups in the region that is asked, by their ARNs."""
    return response.backend.__dict__.setdefault("copied_backups", {})


def start_copies(response: RDSResponse) -> ActionResult:
    source_arn = response.params["SourceDBInstanceArn"]
    # The source must be there when the copies begin, and not any more afterwards.
    source = response.backend.find_db_from_id(source_arn)
    backend = response.backend
    arn = f"arn:aws:rds:{backend.region_name}:{backend.account_id}:auto-backup:ab-{uuid.uuid4().hex[:26]}"
    copies(response)[arn] = {
        "DBInstanceArn": source_arn,
        "DBInstanceIdentifier": source.db_instance_identifier,
        "DBInstanceAutomatedBackupsArn": arn,
        "Status": "replicating",
        "KmsKeyId": response.params.get("KmsKeyId"),
        "BackupRetentionPeriod": response.params.get("BackupRetentionPeriod", 7),
        "Engine": source.engine,
        "EngineVersion": source.engine_version,
        "MasterUsername": source.master_username,
        "AllocatedStorage": source.allocated_storage,
        "Encrypted": True,
    }
    return ActionResult({"DBInstanceAutomatedBackup": copies(response)[arn]})


def stop_copies(response: RDSResponse) -> ActionResult:
    """As in AWS what was copied stays for its time."""
    source_arn = response.params["SourceDBInstanceArn"]
    found = next(c for c in copies(response).values() if c["DBInstanceArn"] == source_arn and c["Status"] == "replicating")
    found["Status"] = "retained"
    return ActionResult({"DBInstanceAutomatedBackup": found})


def describe_copies(response: RDSResponse) -> ActionResult:
    wanted = response.params.get("DBInstanceAutomatedBackupsArn")
    for copied in copies(response).values():
        # As in AWS nothing more is copied of a database that is gone.
        try:
            response.backend.find_db_from_id(copied["DBInstanceArn"])
        except DBInstanceNotFoundError:
            copied["Status"] = "retained"
    found = [c for arn, c in copies(response).items() if wanted in (None, arn)]
    return ActionResult({"DBInstanceAutomatedBackups": found})


# What says where the rows come from, and is no property of the new database.
SOURCES = ("source_db_instance_automated_backups_arn", "target_db_instance_identifier", "use_latest_restorable_time",
           "restore_time", "source_db_instance_identifier", "source_dbi_resource_id")


def restore_copies(response: RDSResponse) -> ActionResult:
    """As in AWS the new database has the key of the copies, and cannot be given another one."""
    copy = copies(response)[response.params["SourceDBInstanceAutomatedBackupsArn"]]
    given = {key: value for key, value in response.params.items() if key not in SOURCES and value is not None}
    database = response.backend.create_db_instance({
        "engine": copy["Engine"], "engine_version": copy["EngineVersion"], "master_username": copy["MasterUsername"],
        "master_user_password": "of the source", "db_name": "payments", "allocated_storage": copy["AllocatedStorage"],
        "storage_encrypted": True,
    } | given | {
        "db_instance_identifier": response.params["TargetDBInstanceIdentifier"], "kms_key_id": copy["KmsKeyId"],
    })
    return ActionResult({"DBInstance": database})
