package proxy

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/session/confine"
	"github.com/longterm-dev/longterm/session/sandbox"
)

// fetchInside is the program inside: it requests URLs by the proxy of its environment, and an address without it.
func fetchInside(urls []string) {
	to, _ := url.Parse(os.Getenv("HTTP_PROXY"))
	client := &http.Client{Transport: &http.Transport{Proxy: http.ProxyURL(to)}} // for loopback, too
	for _, u := range urls {
		resp, err := client.Get(u)
		if err != nil {
			fmt.Println("error", err)
			continue
		}
		b, _ := io.ReadAll(io.LimitReader(resp.Body, 200))
		fmt.Println(resp.StatusCode, strings.TrimSpace(string(b)))
	}
	direct := &http.Client{Transport: &http.Transport{}}
	if resp, err := direct.Get(os.Getenv("DIRECT")); err == nil {
		b, _ := io.ReadAll(io.LimitReader(resp.Body, 200))
		fmt.Println("without a proxy:", strings.TrimSpace(string(b)))
	}
	if c, err := net.DialTimeout("tcp", os.Getenv("BESIDE"), time.Minute); err == nil {
		_ = c.Close()
		fmt.Println("got out beside the proxy")
	}
	os.Exit(0)
}

// TestProxy_FromInside checks that a sandbox with a private network reaches listed hosts by the proxy only. It reaches
// listed loopback addresses without the proxy, since few programs use one for their own machine.
//
// FEATURES: R67
func TestProxy_FromInside(t *testing.T) {
	if err := confine.ProbeNamespaces(); err != nil {
		t.Skip(err)
	}
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, "reached "+r.URL.Path) })}
	go func() { _ = server.Serve(l) }()
	defer server.Close()
	at := l.Addr().String()
	beside, err := net.Listen("tcp4", "127.0.0.1:0") // not listed
	if err != nil {
		t.Fatal(err)
	}
	defer beside.Close()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	f, err := sandbox.Decode("sandbox.toml", []byte("[p]\nextends = \"workspace\"\nnetwork = [\""+at+"\"]\n"))
	if err != nil {
		t.Fatal(err)
	}
	p, _ := f.Profile("p")
	r, err := p.Resolve(sandbox.Place{Home: "/nonexistent", Cwd: dir, ReadInHidden: []string{exe}})
	if err != nil {
		t.Fatal(err)
	}
	spec := confine.Spec{Path: exe}
	if err := r.Confine(&spec, sandbox.Userns, sandbox.ProxyConfig{}); err != nil {
		t.Fatal(err)
	}
	argv, env, err := spec.Command([]string{"fetch", "http://" + at + "/there", "http://evil.example/"}, append(os.Environ(), "BESIDE="+beside.Addr().String(), "DIRECT=http://"+at+"/direct"))
	if err != nil {
		t.Fatal(err)
	}
	out, err := (&exec.Cmd{Path: exe, Args: argv, Env: env, Dir: dir}).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if text := string(out); !strings.Contains(text, "200 reached /there") || !strings.Contains(text, "without a proxy: reached /direct") || !strings.Contains(text, "403 longterm: evil.example:80 is not to be reached") || strings.Contains(text, "beside the proxy") {
		t.Errorf("%s", text)
	}
}
