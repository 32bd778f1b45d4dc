//go:build unix

package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/session/apitoken"
	"github.com/longterm-dev/longterm/session/client"
	"github.com/longterm-dev/longterm/session/paths"
)

// stubDaemon answers requests of screen, and blocks waiting requests.
func stubDaemon(b testing.TB) *Server {
	return withDaemon(b, func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasSuffix(r.URL.Path, "/wait"):
			<-r.Context().Done()
		case strings.HasSuffix(r.URL.Path, "/screen"):
			_, _ = w.Write([]byte(`{"version":7,"lines":[{"text":"ready"}]}`))
		default:
			_ = json.NewEncoder(w).Encode(map[string]any{"id": filepath.Base(r.URL.Path), "name": "s", "state": "running", "version": 7})
		}
	})
}

// withDaemon returns a server with a daemon of a test's handler.
func withDaemon(b testing.TB, answers http.HandlerFunc) *Server {
	dir, err := os.MkdirTemp("", "lt")
	if err != nil {
		b.Fatal(err)
	}
	dirs := paths.Dirs{Run: dir, State: dir, Config: dir}
	l, err := net.Listen("unix", dirs.Socket())
	if err != nil {
		b.Fatal(err)
	}
	web := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		answers(w, r)
	})}
	go func() { _ = web.Serve(l) }()
	s, err := New(Options{Client: func(string, string) *client.Client { return client.New(client.Options{Dirs: dirs}) }, Build: "test", Level: All, Cwd: "/"})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { s.Close(); _ = web.Close(); _ = os.RemoveAll(dir) })
	return s
}

// BenchmarkScreenUnderTenThousandCalls measures a call of screen while ten thousand waiting calls are made: its p99.
//
// FEATURES: R88
func BenchmarkScreenUnderTenThousandCalls(b *testing.B) {
	const secret = "0123456789abcdef"
	defer debug.SetGCPercent(debug.SetGCPercent(GCPercent))
	s := stubDaemon(b)
	web := httptest.NewUnstartedServer(s.Handler([]Token{{Secret: secret, Name: "default", Level: All}}, nil, apitoken.Source{}))
	web.Listener = s.Listener(web.Config, web.Listener)
	web.Start()
	defer web.Close()
	transport := &http.Transport{MaxIdleConnsPerHost: 4096}
	defer transport.CloseIdleConnections()
	call := func(ctx context.Context, tool, args string) (int, error) {
		body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s,"_meta":{"io.modelcontextprotocol/protocolVersion":%q,"io.modelcontextprotocol/clientInfo":{"name":"b","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}`, tool, args, modernVersion)
		r, _ := http.NewRequestWithContext(ctx, http.MethodPost, web.URL, strings.NewReader(body))
		for k, v := range map[string]string{
			"Authorization": "Bearer " + secret, "Content-Type": "application/json", "Accept": "application/json, text/event-stream",
			"Mcp-Protocol-Version": modernVersion, "Mcp-Method": "tools/call", "Mcp-Name": tool,
		} {
			r.Header.Set(k, v)
		}
		resp, err := transport.RoundTrip(r)
		if err != nil {
			return 0, err
		}
		defer resp.Body.Close()
		buf := make([]byte, 512)
		n, _ := resp.Body.Read(buf)
		if tool == "screen" && !strings.Contains(string(buf[:n]), "ready") {
			return 0, fmt.Errorf("%d %s", resp.StatusCode, buf[:n])
		}
		return resp.StatusCode, nil
	}
	var took []time.Duration
	for b.Loop() {
		ctx, cancel := context.WithCancel(context.Background())
		var all sync.WaitGroup
		limit := make(chan struct{}, 400) // sockets
		all.Go(func() {
			for range 10_000 {
				select {
				case limit <- struct{}{}:
				case <-ctx.Done():
					return
				}
				all.Go(func() {
					_, _ = call(ctx, "wait", `{"for":["s"],"yield":30}`)
					<-limit
				})
			}
		})
		for range 200 {
			at := time.Now()
			if _, err := call(context.Background(), "screen", `{"session":"s"}`); err != nil {
				b.Error(err)
				break
			}
			took = append(took, time.Since(at))
		}
		cancel()
		all.Wait()
	}
	slices.Sort(took)
	if len(took) > 0 {
		b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
		b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
	}
}
