long sum(int n, char **numbers);
