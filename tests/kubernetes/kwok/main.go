// kwok plays the kubelets of nodes that are not there. It is a program of its own: it and Kubernetes both define the
// option --version.
package main

import (
	"context"
	"fmt"
	"os"

	"fairhold/tests/kubernetes/input"

	"github.com/spf13/pflag"
	"sigs.k8s.io/kwok/pkg/config"
	"sigs.k8s.io/kwok/pkg/kwok/cmd"
	"sigs.k8s.io/kwok/pkg/log"
)

func run(ctx context.Context) error {
	options := pflag.NewFlagSet("global", pflag.ContinueOnError)
	options.ParseErrorsAllowlist.UnknownFlags = true
	options.Usage = func() {}
	ctx, _ = log.InitFlags(ctx, options)
	ctx, err := config.InitFlags(ctx, options)
	if err != nil {
		return err
	}
	command := cmd.NewCommand(ctx)
	command.PersistentFlags().AddFlagSet(options)
	return command.ExecuteContext(ctx)
}

func main() {
	go input.End()
	if err := run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
