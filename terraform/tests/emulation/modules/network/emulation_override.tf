# moto does not say how a gateway is connected, so one that was imported would be replaced.
resource "aws_nat_gateway" "this" {
  lifecycle {
    ignore_changes = [connectivity_type]
  }
}
