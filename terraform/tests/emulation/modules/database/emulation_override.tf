# moto looks for the subnet group of a replica in the region of its source.
resource "aws_db_instance" "this" {
  db_subnet_group_name = null
}

# moto does not have this call.
resource "aws_backup_selection" "this" {
  count = 0
}

# Its clusters have no security group that a rule could name.
resource "aws_vpc_security_group_ingress_rule" "clients" {
  for_each = {}
}

# It cannot list what a vault holds, which is what this asks for.
resource "aws_backup_vault" "this" {
  force_destroy = false
}
