"""What several tests share: real data on disk, servers, small graphs."""
