"""The emulation does as AWS does where it was put right, and closes what it is told to."""

import os
import unittest

os.environ |= {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test"}

import boto3  # noqa: E402
from botocore.exceptions import ClientError  # noqa: E402
from moto import mock_aws  # noqa: E402

import amended  # noqa: E402
import front  # noqa: E402

amended.amend()


def plan(days: int) -> dict:
    rule = {"RuleName": "daily", "TargetBackupVaultName": "vault", "Lifecycle": {"DeleteAfterDays": days}}
    return {"BackupPlanName": "plan", "Rules": [rule]}


@mock_aws
class Amended(unittest.TestCase):
    def test_a_replica_of_another_region_is_deleted(self):
        here, there = boto3.client("rds", "eu-central-1"), boto3.client("rds", "eu-west-1")
        made = here.create_db_instance(
            DBInstanceIdentifier="primary", Engine="postgres", DBInstanceClass="db.t3.micro", AllocatedStorage=20,
            MasterUsername="administrator", MasterUserPassword="only-for-the-test")["DBInstance"]
        there.create_db_instance_read_replica(
            DBInstanceIdentifier="replica", SourceDBInstanceIdentifier=made["DBInstanceArn"])
        there.delete_db_instance(DBInstanceIdentifier="replica", SkipFinalSnapshot=True)
        left = here.describe_db_instances()["DBInstances"][0]
        self.assertEqual(left["ReadReplicaDBInstanceIdentifiers"], [])

    def test_a_backup_plan_changes_and_comes_again_under_its_name(self):
        backup = boto3.client("backup", "eu-central-1")
        made = backup.create_backup_plan(BackupPlan=plan(7))
        changed = backup.update_backup_plan(BackupPlanId=made["BackupPlanId"], BackupPlan=plan(35))
        self.assertEqual(changed["BackupPlanId"], made["BackupPlanId"])
        self.assertNotEqual(changed["VersionId"], made["VersionId"])
        rule = backup.get_backup_plan(BackupPlanId=made["BackupPlanId"])["BackupPlan"]["Rules"][0]
        self.assertEqual(rule["Lifecycle"]["DeleteAfterDays"], 35)
        with self.assertRaisesRegex(ClientError, "already exists"):
            backup.create_backup_plan(BackupPlan=plan(7))
        backup.delete_backup_plan(BackupPlanId=made["BackupPlanId"])
        with self.assertRaises(ClientError):
            backup.get_backup_plan(BackupPlanId=made["BackupPlanId"])
        backup.create_backup_plan(BackupPlan=plan(7))

    def test_a_record_comes_again_as_it_was(self):
        route53 = boto3.client("route53", "us-east-1")
        zone = route53.create_hosted_zone(Name="pay.example.com", CallerReference="test")["HostedZone"]["Id"]

        def change(action, name):
            record = {"Name": name, "Type": "A", "TTL": 60, "ResourceRecords": [{"Value": "192.0.2.1"}]}
            route53.change_resource_record_sets(
                HostedZoneId=zone, ChangeBatch={"Changes": [{"Action": action, "ResourceRecordSet": record}]})

        change("CREATE", "a.pay.example.com")
        change("CREATE", "b.pay.example.com")
        with self.assertRaisesRegex(ClientError, "already exists"):
            change("CREATE", "a.pay.example.com")
        change("DELETE", "a.pay.example.com")
        change("CREATE", "a.pay.example.com")

    def test_the_address_of_a_gateway_that_is_gone_is_free(self):
        ec2 = boto3.client("ec2", "eu-central-1")
        subnet = ec2.describe_subnets()["Subnets"][0]["SubnetId"]
        address = ec2.allocate_address(Domain="vpc")["AllocationId"]
        for _ in range(2):
            gateway = ec2.create_nat_gateway(SubnetId=subnet, AllocationId=address)["NatGateway"]["NatGatewayId"]
            ec2.delete_nat_gateway(NatGatewayId=gateway)

    def test_a_promoted_replica_has_no_source(self):
        here, there = boto3.client("rds", "eu-central-1"), boto3.client("rds", "eu-west-1")
        made = primary(here)
        there.create_db_instance_read_replica(
            DBInstanceIdentifier="replica", SourceDBInstanceIdentifier=made["DBInstanceArn"])
        replica = there.describe_db_instances(DBInstanceIdentifier="replica")["DBInstances"][0]
        self.assertEqual(replica["ReadReplicaSourceDBInstanceIdentifier"], made["DBInstanceArn"])
        there.promote_read_replica(DBInstanceIdentifier="replica")
        replica = there.describe_db_instances(DBInstanceIdentifier="replica")["DBInstances"][0]
        self.assertFalse(replica.get("ReadReplicaSourceDBInstanceIdentifier"))

    def test_backups_are_copied_and_restored_with_the_key_of_the_copies(self):
        here, there = boto3.client("rds", "eu-central-1"), boto3.client("rds", "eu-west-1")
        made = primary(here)
        copy = there.start_db_instance_automated_backups_replication(
            SourceDBInstanceArn=made["DBInstanceArn"], KmsKeyId="arn:aws:kms:eu-west-1:123456789012:key/copies",
        )["DBInstanceAutomatedBackup"]
        arn = copy["DBInstanceAutomatedBackupsArn"]
        listed = there.describe_db_instance_automated_backups(DBInstanceAutomatedBackupsArn=arn)
        self.assertEqual([c["Status"] for c in listed["DBInstanceAutomatedBackups"]], ["replicating"])
        here.delete_db_instance(DBInstanceIdentifier="primary", SkipFinalSnapshot=True)
        restored = there.restore_db_instance_to_point_in_time(
            SourceDBInstanceAutomatedBackupsArn=arn, TargetDBInstanceIdentifier="restored",
            UseLatestRestorableTime=True, DBInstanceClass="db.t3.small")["DBInstance"]
        self.assertEqual(restored["KmsKeyId"], "arn:aws:kms:eu-west-1:123456789012:key/copies")
        self.assertEqual(restored["DBInstanceClass"], "db.t3.small")
        listed = there.describe_db_instance_automated_backups()["DBInstanceAutomatedBackups"]
        self.assertEqual([c["Status"] for c in listed], ["retained"])


def primary(rds) -> dict:
    return rds.create_db_instance(
        DBInstanceIdentifier="primary", Engine="postgres", DBInstanceClass="db.t3.micro", AllocatedStorage=20,
        MasterUsername="administrator", MasterUserPassword="only-for-the-test")["DBInstance"]


class Closing(unittest.TestCase):
    """What is closed answers nobody, and is counted."""

    def ask(self, service: str, region: str, closed) -> str:
        self.answers = []
        self.front = front.Front(lambda environ, start: start("200 OK", []) or [b""])
        self.front.closed = closed
        scope = f"AWS4-HMAC-SHA256 Credential=test/20260301/{region}/{service}/aws4_request, SignedHeaders=host"
        environ = {"HTTP_AUTHORIZATION": scope, "PATH_INFO": "/"}
        self.front(environ, lambda status, headers: self.answers.append(status))
        return self.answers[0][:3]

    def test_a_region_is_closed(self):
        self.assertEqual(self.ask("rds", "eu-west-1", front.all_but("eu-west-1")), "200")
        self.assertEqual(self.ask("rds", "eu-central-1", front.all_but("eu-west-1")), "403")
        self.assertEqual(dict(self.front.refused), {("rds", "eu-central-1"): 1})

    def test_the_control_planes_of_the_world_are_in_no_region(self):
        self.assertEqual(self.ask("iam", "us-east-1", front.all_but("us-east-1")), "403")
        self.assertEqual(self.ask("route53", "us-east-1", front.only(None, "worldwide")), "403")
        self.assertEqual(self.ask("rds", "us-east-1", front.only(None, "worldwide")), "200")

    def test_one_service_is_closed(self):
        self.assertEqual(self.ask("kms", "eu-west-1", front.only("kms", "eu-west-1")), "403")
        self.assertEqual(self.ask("kms", "eu-central-1", front.only("kms", "eu-west-1")), "200")


if __name__ == "__main__":
    unittest.main()
