"""Deleted things may come again, and a backup plan may change, in the emulation as in AWS."""

import os
import unittest

os.environ |= {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test"}

import boto3  # noqa: E402
from botocore.exceptions import ClientError  # noqa: E402
from moto import mock_aws  # noqa: E402

import amended  # noqa: E402

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


if __name__ == "__main__":
    unittest.main()
