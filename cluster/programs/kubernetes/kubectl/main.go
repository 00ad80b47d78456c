// Command kubectl is kubectl, built beside the servers so that its version
// always fits theirs. It is a binary of its own because tests start it very
// often and the servers' initialisation would double its start-up time.
package main

import (
	"os"

	_ "k8s.io/client-go/plugin/pkg/client/auth/exec"
	"k8s.io/component-base/cli"
	"k8s.io/kubectl/pkg/cmd"
	"k8s.io/kubectl/pkg/cmd/util"
)

func main() {
	if err := cli.RunNoErrOutput(cmd.NewDefaultKubectlCommand()); err != nil {
		util.CheckErr(err)
	}
	os.Exit(0)
}
