// The programs of a Kubernetes cluster in one file, which takes one build. The first argument picks one.
package main

import (
	"context"
	"fmt"
	"os"

	"fairhold/tests/kubernetes/input"

	"github.com/spf13/cobra"
	"go.etcd.io/etcd/server/v3/etcdmain"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	"k8s.io/kubectl/pkg/cmd"
	"k8s.io/kubectl/pkg/cmd/util"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllermanager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
	kubelet "k8s.io/kubernetes/cmd/kubelet/app"
)

var programs = map[string]func(){
	"etcd":                    func() { etcdmain.Main(os.Args) },
	"kube-apiserver":          func() { serve(apiserver.NewAPIServerCommand()) },
	"kube-controller-manager": func() { serve(controllermanager.NewControllerManagerCommand()) },
	"kube-scheduler":          func() { serve(scheduler.NewSchedulerCommand()) },
	"kubelet":                 func() { serve(kubelet.NewKubeletCommand(context.Background())) },
	"kubectl":                 func() { util.CheckErr(cli.RunNoErrOutput(cmd.NewDefaultKubectlCommand())) },
}

func serve(command *cobra.Command) {
	os.Exit(cli.Run(command))
}

func main() {
	if len(os.Args) < 2 || programs[os.Args[1]] == nil {
		fmt.Fprintln(os.Stderr, "the first argument has to be the name of a program of Kubernetes, or etcd")
		os.Exit(2)
	}
	os.Args = os.Args[1:]
	if os.Args[0] != "kubectl" {
		go input.End()
	}
	programs[os.Args[0]]()
}
