// Command pki makes the certificates of a test cluster: one authority, and for
// each -issue one key and certificate signed by it.
//
//	pki -dir DIR -issue name=admin,cn=admin,org=system:masters -issue name=apiserver,cn=kube-apiserver,host=127.0.0.1
//
// DIR/ca.crt and DIR/ca.key are made when they are missing, so that a repaired
// cluster keeps its authority and the kubeconfigs made from it. Neither Node.js
// nor every machine's package set can sign a certificate; Go can.
package main

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"flag"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"
)

const lifetime = 365 * 24 * time.Hour

// request is one certificate to issue.
type request struct {
	name    string
	subject pkix.Name
	hosts   []string
}

type requests []request

func (r *requests) String() string { return fmt.Sprint(len(*r)) }

// Set reads "name=…,cn=…,org=…,host=…"; org and host may be repeated.
func (r *requests) Set(text string) error {
	var one request
	for _, part := range strings.Split(text, ",") {
		key, value, found := strings.Cut(part, "=")
		switch {
		case !found:
			return fmt.Errorf("%q is not key=value", part)
		case key == "name":
			one.name = value
		case key == "cn":
			one.subject.CommonName = value
		case key == "org":
			one.subject.Organization = append(one.subject.Organization, value)
		case key == "host":
			one.hosts = append(one.hosts, value)
		default:
			return fmt.Errorf("%q is none of name, cn, org, host", key)
		}
	}
	*r = append(*r, one)
	return nil
}

func main() {
	dir := flag.String("dir", ".", "folder of the keys and certificates")
	var wanted requests
	flag.Var(&wanted, "issue", "a certificate to issue; may be repeated")
	flag.Parse()
	if err := run(*dir, wanted); err != nil {
		fmt.Fprintln(os.Stderr, "pki:", err)
		os.Exit(1)
	}
}

func run(dir string, wanted []request) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	ca, caKey, err := authority(dir)
	if err != nil {
		return err
	}
	for _, one := range wanted {
		if err := issue(dir, one, ca, caKey); err != nil {
			return fmt.Errorf("cannot issue %s: %w", one.name, err)
		}
	}
	return nil
}

// authority reads the folder's authority, or makes it.
func authority(dir string) (*x509.Certificate, crypto.Signer, error) {
	certificate, key, err := read(dir, "ca")
	if err == nil || !errors.Is(err, os.ErrNotExist) {
		return certificate, key, err
	}
	template := template(pkix.Name{CommonName: "dbop-test-cluster"})
	template.IsCA = true
	template.BasicConstraintsValid = true
	template.KeyUsage |= x509.KeyUsageCertSign
	key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	if err := sign(dir, "ca", template, template, key, key); err != nil {
		return nil, nil, err
	}
	return read(dir, "ca")
}

func issue(dir string, one request, ca *x509.Certificate, caKey crypto.Signer) error {
	template := template(one.subject)
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth}
	for _, host := range one.hosts {
		if ip := net.ParseIP(host); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, host)
		}
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	return sign(dir, one.name, template, ca, key, caKey)
}

func template(subject pkix.Name) *x509.Certificate {
	// 64 random bits: serial numbers of one authority must differ.
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 64))
	if err != nil {
		panic(err)
	}
	return &x509.Certificate{
		SerialNumber: serial,
		Subject:      subject,
		// An hour back: the clocks of machine and containers may differ.
		NotBefore: time.Now().Add(-time.Hour),
		NotAfter:  time.Now().Add(lifetime),
		KeyUsage:  x509.KeyUsageDigitalSignature | x509.KeyUsageKeyEncipherment,
	}
}

func sign(dir, name string, template, parent *x509.Certificate, key, parentKey crypto.Signer) error {
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), parentKey)
	if err != nil {
		return err
	}
	keyDer, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	if err := write(filepath.Join(dir, name+".key"), "PRIVATE KEY", keyDer); err != nil {
		return err
	}
	return write(filepath.Join(dir, name+".crt"), "CERTIFICATE", der)
}

func write(path, kind string, der []byte) error {
	return os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600)
}

func read(dir, name string) (*x509.Certificate, crypto.Signer, error) {
	der, err := readPem(filepath.Join(dir, name+".crt"))
	if err != nil {
		return nil, nil, err
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, nil, err
	}
	keyDer, err := readPem(filepath.Join(dir, name+".key"))
	if err != nil {
		return nil, nil, err
	}
	key, err := x509.ParsePKCS8PrivateKey(keyDer)
	if err != nil {
		return nil, nil, err
	}
	return certificate, key.(crypto.Signer), nil
}

func readPem(path string) ([]byte, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, fmt.Errorf("%s holds no PEM block", path)
	}
	return block.Bytes, nil
}
