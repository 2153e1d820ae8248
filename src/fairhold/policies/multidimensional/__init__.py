"""The policy `multidimensional`: hosts and parts of hosts are owned and shared in pools."""
