# The way of one site to the witness: a peering of the two networks, across regions, with a route at each end. It belongs
# to neither: so a site that is taken down takes nothing from the witness, and a promotion, which makes no way, asks for
# no other region.

data "aws_vpc" "site" {
  filter {
    name   = "tag:Name"
    values = [var.site_vpc_name]
  }
}

data "aws_route_tables" "nodes" {
  vpc_id = data.aws_vpc.site.id

  filter {
    name   = "tag:Name"
    values = ["${var.site_vpc_name}-private-*"]
  }
}

data "aws_vpc" "witness" {
  provider = aws.witness

  filter {
    name   = "tag:Name"
    values = [var.witness_vpc_name]
  }
}

data "aws_route_table" "witness" {
  provider = aws.witness
  vpc_id   = data.aws_vpc.witness.id

  filter {
    name   = "tag:Name"
    values = [var.witness_vpc_name]
  }
}

resource "aws_vpc_peering_connection" "this" {
  vpc_id      = data.aws_vpc.site.id
  peer_vpc_id = data.aws_vpc.witness.id
  peer_region = var.witness_region
  auto_accept = false
  tags        = merge(var.tags, { Name = "${var.site_vpc_name}-witness" })
}

resource "aws_vpc_peering_connection_accepter" "this" {
  provider = aws.witness

  vpc_peering_connection_id = aws_vpc_peering_connection.this.id
  auto_accept               = true
  tags                      = merge(var.tags, { Name = "${var.site_vpc_name}-witness" })
}

# One for each zone. Their number is known before, their ids are not.
resource "aws_route" "to_witness" {
  count = 3

  route_table_id            = sort(data.aws_route_tables.nodes.ids)[count.index]
  destination_cidr_block    = data.aws_vpc.witness.cidr_block
  vpc_peering_connection_id = aws_vpc_peering_connection_accepter.this.id
}

resource "aws_route" "to_nodes" {
  provider = aws.witness

  route_table_id            = data.aws_route_table.witness.id
  destination_cidr_block    = data.aws_vpc.site.cidr_block
  vpc_peering_connection_id = aws_vpc_peering_connection_accepter.this.id
}
