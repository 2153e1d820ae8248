"""The governor of a Kubernetes cluster: pods are the work, nodes are the hosts, and the cluster runs them."""
