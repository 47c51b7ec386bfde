"""Amazon Bedrock for nel."""
