# A registry in each region: a site that must come up pulls its image from its own region.

resource "aws_ecr_repository" "this" {
  name                 = local.id
  image_tag_mutability = "IMMUTABLE"
  force_delete         = !var.protected
  tags                 = local.tags

  image_scanning_configuration {
    scan_on_push = true
  }

  encryption_configuration {
    encryption_type = "KMS"
  }
}

# Only what no tag names any more; a tagged image may be the one that must come up.
resource "aws_ecr_lifecycle_policy" "this" {
  repository = aws_ecr_repository.this.name

  policy = jsonencode({
    rules = [{
      rulePriority = 1
      description  = "untagged images end after 14 days"
      selection    = { tagStatus = "untagged", countType = "sinceImagePushed", countUnit = "days", countNumber = 14 }
      action       = { type = "expire" }
    }]
  })
}
