// Command versitygw is the S3 server of the tests: Versity's gateway on a
// folder. Its own program would bring every other backend and its integration
// tests along, which take long to compile.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"

	"github.com/versity/versitygw/backend/meta"
	"github.com/versity/versitygw/backend/posix"
	"github.com/versity/versitygw/embedgw"
)

func main() {
	listen := flag.String("listen", "", "address and port")
	folder := flag.String("folder", "", "whose subfolders are the buckets")
	certificate := flag.String("cert", "", "file with the server's certificate; without one it speaks plain HTTP")
	key := flag.String("key", "", "file with the certificate's key")
	flag.Parse()
	if err := run(*listen, *folder, *certificate, *key); err != nil {
		fmt.Fprintln(os.Stderr, "versitygw:", err)
		os.Exit(1)
	}
}

func run(listen, folder, certificate, key string) error {
	backend, err := posix.New(folder, meta.XattrMeta{}, posix.PosixOpts{Concurrency: 1000})
	if err != nil {
		return err
	}
	return embedgw.RunVersityGW(context.Background(), backend, &embedgw.Config{
		RootUserAccess:    os.Getenv("ROOT_ACCESS_KEY"),
		RootUserSecret:    os.Getenv("ROOT_SECRET_KEY"),
		Region:            "us-east-1",
		Ports:             []string{listen},
		CertFile:          certificate,
		KeyFile:           key,
		MaxConnections:    1000,
		MaxRequests:       1000,
		MultipartMaxParts: 10000,
		Quiet:             true,
	})
}
