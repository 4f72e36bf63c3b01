package cli_test
