# What a site stands on and must find again: the addresses on the providers' allow-lists, the certificate, and the roles
# of IAM. It is made before the site, in a state of its own that is never taken down. So a site can be taken down and
# come back with the same addresses, and a promotion asks neither IAM nor Route 53, whose control planes are in one
# region of AWS for all regions.

data "aws_caller_identity" "current" {}
data "aws_partition" "current" {}

locals {
  account_id = data.aws_caller_identity.current.account_id
  partition  = data.aws_partition.current.partition
}

# Reserved in every tier, and also while the site is taken down: providers have allow-lists of addresses, and a site that
# comes up with new ones after a disaster is refused by everybody. The site finds each by its name.
resource "aws_eip" "nat" {
  for_each = toset(var.zones)

  domain = "vpc"
  tags   = merge(var.tags, { Name = "${var.name}-nat-${each.key}" })
}
