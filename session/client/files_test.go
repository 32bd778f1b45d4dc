//go:build unix

package client

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/longterm-dev/longterm/session/api"
)

// stores answers as the daemon does once a file is stored.
func stores(w http.ResponseWriter, r *http.Request) {
	b, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	sum := sha256.Sum256(b)
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(api.StoredFile{Name: r.URL.Query().Get("name"), Size: int64(len(b)), SHA256: hex.EncodeToString(sum[:])})
}

// FEATURES: R136
func TestPut(t *testing.T) {
	info := replyOf("")
	for name, c := range map[string]struct {
		size    int64
		content io.Reader
		answer  http.HandlerFunc
		want    string
	}{
		"of known size":   {3, strings.NewReader("abc"), stores, ""},
		"of unknown size": {-1, strings.NewReader("abc"), stores, ""},
		"empty":           {0, strings.NewReader(""), stores, ""},
		"unreadable":      {3, iotest.ErrReader(errors.New("bad disk")), stores, "bad disk"},
		"grown":           {3, strings.NewReader("abcdef"), stores, ""},
		"changed":         {3, strings.NewReader("abc"), replyOf(`{"sha256":"00"}`), "differs"},
		"refused":         {3, strings.NewReader("abc"), refuses(api.Errorf(api.CodeLimit, "too large")), "too large"},
		"cut":             {3, strings.NewReader("abc"), dies(""), "look whether it was done"},
	} {
		t.Run(name, func(t *testing.T) {
			_, client := newFake(t, info, c.answer)
			f, err := client.Session("s").PutFile(testContext(t), "f", c.size, c.content)
			if c.want == "" && (err != nil || f.Name != "f") || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("%+v, %v, want %q", f, err, c.want)
			}
		})
	}
}

// A file counts as copied only with its digest.
//
// FEATURES: R136
func TestGet_Incomplete_IsAnError(t *testing.T) {
	content := bytes.Repeat([]byte("content "), 1000)
	sum := sha256.Sum256(content)
	digest := "sha-256=:" + base64.StdEncoding.EncodeToString(sum[:]) + ":"
	sends := func(digest string, cut bool) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Trailer", api.DigestTrailer)
			w.Header().Set(api.FileNameHeader, "a%20b")
			w.Header().Set(api.FileModeHeader, "0755")
			_, _ = w.Write(content)
			if cut {
				_ = http.NewResponseController(w).Flush()
				panic(http.ErrAbortHandler)
			}
			w.Header().Set(api.DigestTrailer, digest)
		}
	}
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		want   string
	}{
		"whole": {sends(digest, false), ""}, "without digest": {sends("", false), "incomplete"},
		"damaged": {sends("sha-256=:AAAA:", false), "damaged"}, "cut": {sends(digest, true), "interrupted"},
	} {
		t.Run(name, func(t *testing.T) {
			_, client := newFake(t, c.answer)
			f, err := client.Session("s").GetFile(testContext(t), "x")
			if err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(f)
			if c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) || c.want == "" && (err != nil || !bytes.Equal(got, content)) {
				t.Errorf("%d bytes, %v, want %q", len(got), err, c.want)
			}
			if f.Name != "a b" || f.Mode != 0o755 || f.Size() != int64(len(got)) {
				t.Errorf("%q, %v, %d bytes", f.Name, f.Mode, f.Size())
			}
			if err := f.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}
