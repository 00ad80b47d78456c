// Command registry serves the images that this machine made to the nodes of a
// cluster, read-only, in place of every registry of the world: nodes reach
// nothing else.
//
// An image store is a folder with blobs/sha256/HEX and an index.json that maps
// full names ("docker.io/library/mysql:9.7") to digests of manifests. Several
// stores can be given; the first one that knows a name or a blob has it.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

var (
	digest  = regexp.MustCompile(`^sha256:([0-9a-f]{64})$`)
	request = regexp.MustCompile(`^/v2/(.+)/(manifests|blobs)/([^/]+)$`)
)

type stores []string

func (s *stores) String() string          { return strings.Join(*s, ",") }
func (s *stores) Set(folder string) error { *s = append(*s, folder); return nil }

func main() {
	listen := flag.String("listen", "127.0.0.1:0", "address and port")
	var from stores
	flag.Var(&from, "store", "folder of images; may be repeated")
	flag.Parse()
	log.Fatal(http.ListenAndServe(*listen, from))
}

func (s stores) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Docker-Distribution-Api-Version", "registry/2.0")
	if r.URL.Path == "/v2/" {
		return
	}
	parts := request.FindStringSubmatch(r.URL.Path)
	if parts == nil {
		fail(w, "UNSUPPORTED", r.URL.Path)
		return
	}
	repository, kind, reference := parts[1], parts[2], parts[3]
	if kind == "manifests" && !digest.MatchString(reference) {
		// The runtime says in "ns" which registry it believes to speak to.
		name := fmt.Sprintf("%s/%s:%s", r.URL.Query().Get("ns"), repository, reference)
		if reference = s.resolve(name); reference == "" {
			fail(w, "MANIFEST_UNKNOWN", name)
			return
		}
	}
	path := s.blob(reference)
	if path == "" {
		fail(w, "BLOB_UNKNOWN", reference)
		return
	}
	w.Header().Set("Docker-Content-Digest", reference)
	w.Header().Set("Content-Type", mediaType(kind, path))
	http.ServeFile(w, r, path)
}

// resolve reads the indexes anew each time: images come while the registry runs.
func (s stores) resolve(name string) string {
	for _, folder := range s {
		var index map[string]string
		text, err := os.ReadFile(filepath.Join(folder, "index.json"))
		if err == nil && json.Unmarshal(text, &index) == nil && index[name] != "" {
			return index[name]
		}
	}
	return ""
}

func (s stores) blob(reference string) string {
	match := digest.FindStringSubmatch(reference)
	if match == nil {
		return ""
	}
	for _, folder := range s {
		path := filepath.Join(folder, "blobs", "sha256", match[1])
		if _, err := os.Stat(path); err == nil {
			return path
		}
	}
	return ""
}

// mediaType reads a manifest's own; containerd believes the header.
func mediaType(kind, path string) string {
	if kind == "blobs" {
		return "application/octet-stream"
	}
	var manifest struct {
		MediaType string `json:"mediaType"`
	}
	text, err := os.ReadFile(path)
	if err != nil || json.Unmarshal(text, &manifest) != nil {
		return "application/octet-stream"
	}
	return manifest.MediaType
}

func fail(w http.ResponseWriter, code, detail string) {
	log.Printf("%s: %s", code, detail)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusNotFound)
	_ = json.NewEncoder(w).Encode(map[string]any{"errors": []map[string]string{{"code": code, "message": detail}}})
}
