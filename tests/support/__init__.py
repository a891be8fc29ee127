"""What the tests that start processes share: processes, peers, mail as it should look."""
