# One VPC over three zones with three kinds of subnets: public (the load balancer and the NAT gateways), private
# (the nodes) and isolated (the database, with no route out of the VPC).

locals {
  zones = { for index, zone in var.zones : zone => index }

  # A /16 gives /20 for nodes and /24 for what is small; the same proportions for smaller ranges.
  private_cidrs  = [for i in range(3) : cidrsubnet(var.cidr, 4, i)]
  public_cidrs   = [for i in range(3) : cidrsubnet(var.cidr, 8, 240 + i)]
  isolated_cidrs = [for i in range(3) : cidrsubnet(var.cidr, 8, 248 + i)]

  nat_zones = {
    none     = []
    single   = slice(var.zones, 0, 1)
    per_zone = var.zones
  }[var.nat]
}

resource "aws_vpc" "this" {
  cidr_block           = var.cidr
  enable_dns_support   = true
  enable_dns_hostnames = true
  tags                 = merge(var.tags, { Name = var.name })
}

# The VPC's own security group allows everything among its members; nothing of ours uses it, and nothing that
# forgets to name a group gets through.
resource "aws_default_security_group" "closed" {
  vpc_id  = aws_vpc.this.id
  ingress = []
  egress  = []
  tags    = merge(var.tags, { Name = "${var.name}-closed" })
}

resource "aws_internet_gateway" "this" {
  vpc_id = aws_vpc.this.id
  tags   = merge(var.tags, { Name = var.name })
}

resource "aws_subnet" "public" {
  for_each = local.zones

  vpc_id                  = aws_vpc.this.id
  availability_zone       = each.key
  cidr_block              = local.public_cidrs[each.value]
  map_public_ip_on_launch = false
  tags                    = merge(var.tags, { Name = "${var.name}-public-${each.key}", "kubernetes.io/role/elb" = "1" })
}

resource "aws_subnet" "private" {
  for_each = local.zones

  vpc_id                  = aws_vpc.this.id
  availability_zone       = each.key
  cidr_block              = local.private_cidrs[each.value]
  map_public_ip_on_launch = false
  tags                    = merge(var.tags, { Name = "${var.name}-private-${each.key}", "kubernetes.io/role/internal-elb" = "1" })
}

resource "aws_subnet" "isolated" {
  for_each = local.zones

  vpc_id                  = aws_vpc.this.id
  availability_zone       = each.key
  cidr_block              = local.isolated_cidrs[each.value]
  map_public_ip_on_launch = false
  tags                    = merge(var.tags, { Name = "${var.name}-isolated-${each.key}" })
}

resource "aws_route_table" "public" {
  vpc_id = aws_vpc.this.id
  tags   = merge(var.tags, { Name = "${var.name}-public" })
}

resource "aws_route" "public" {
  route_table_id         = aws_route_table.public.id
  destination_cidr_block = "0.0.0.0/0"
  gateway_id             = aws_internet_gateway.this.id
}

resource "aws_route_table_association" "public" {
  for_each = local.zones

  subnet_id      = aws_subnet.public[each.key].id
  route_table_id = aws_route_table.public.id
}

# A table for each zone, so that the loss of a zone with its NAT gateway does not take the way out from the others.
resource "aws_route_table" "private" {
  for_each = local.zones

  vpc_id = aws_vpc.this.id
  tags   = merge(var.tags, { Name = "${var.name}-private-${each.key}" })
}

resource "aws_route_table_association" "private" {
  for_each = local.zones

  subnet_id      = aws_subnet.private[each.key].id
  route_table_id = aws_route_table.private[each.key].id
}

resource "aws_route_table" "isolated" {
  vpc_id = aws_vpc.this.id
  tags   = merge(var.tags, { Name = "${var.name}-isolated" })
}

resource "aws_route_table_association" "isolated" {
  for_each = local.zones

  subnet_id      = aws_subnet.isolated[each.key].id
  route_table_id = aws_route_table.isolated.id
}

resource "aws_nat_gateway" "this" {
  for_each = toset(local.nat_zones)

  subnet_id     = aws_subnet.public[each.key].id
  allocation_id = var.address_ids[each.key]
  tags          = merge(var.tags, { Name = "${var.name}-${each.key}" })

  depends_on = [aws_internet_gateway.this]
}

resource "aws_route" "private" {
  for_each = var.nat == "none" ? {} : local.zones

  route_table_id         = aws_route_table.private[each.key].id
  destination_cidr_block = "0.0.0.0/0"
  nat_gateway_id         = aws_nat_gateway.this[var.nat == "per_zone" ? each.key : var.zones[0]].id
}

# Image layers come from S3. Through the gateway endpoint they cost no NAT traffic; its policy lets nothing but the
# registry's own bucket through, so that it is no way out for data.
data "aws_iam_policy_document" "image_layers" {
  statement {
    sid       = "ImageLayers"
    actions   = ["s3:GetObject"]
    resources = ["arn:${data.aws_partition.current.partition}:s3:::prod-${var.region}-starport-layer-bucket/*"]

    principals {
      type        = "AWS"
      identifiers = ["*"]
    }

    condition {
      test     = "StringEquals"
      variable = "aws:SourceVpc"
      values   = [aws_vpc.this.id]
    }
  }
}

resource "aws_vpc_endpoint" "s3" {
  vpc_id            = aws_vpc.this.id
  service_name      = "com.amazonaws.${var.region}.s3"
  vpc_endpoint_type = "Gateway"
  route_table_ids   = [for zone in var.zones : aws_route_table.private[zone].id]
  policy            = data.aws_iam_policy_document.image_layers.json
  tags              = merge(var.tags, { Name = "${var.name}-s3" })
}
