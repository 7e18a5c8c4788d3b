provider "aws" {
  region = "eu-west-1"
}

module "network" {
  source = "../../../network"

  name               = "example-ireland"
  region             = "eu-west-1"
  cidr               = "10.20.0.0/16"
  zones              = ["eu-west-1a", "eu-west-1b", "eu-west-1c"]
  nat                = "none"
  address_ids        = { eu-west-1a = "eipalloc-0a", eu-west-1b = "eipalloc-0b", eu-west-1c = "eipalloc-0c" }
  flow_logs_role_arn = "arn:aws:iam::123456789012:role/example-ireland-flow-logs"
}

# A replica of the database of another region, and copies of its backups.
module "database" {
  source = "../.."

  name                = "example-ireland"
  region              = "eu-west-1"
  origin              = { kind = "replica", of = "arn:aws:rds:eu-central-1:123456789012:db:example-frankfurt" }
  copies_of           = "arn:aws:rds:eu-central-1:123456789012:db:example-frankfurt"
  copies_to_vault_arn = "arn:aws:backup:eu-central-1:123456789012:backup-vault:example-frankfurt-copies"
  monitoring_role_arn = "arn:aws:iam::123456789012:role/example-ireland-database-monitoring"
  backup_role_arn     = "arn:aws:iam::123456789012:role/example-ireland-database-backup"
  vpc_id              = module.network.vpc_id
  subnet_ids          = module.network.isolated_subnet_ids
  multi_az            = false
}
