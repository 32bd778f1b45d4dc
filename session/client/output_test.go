//go:build unix

package client

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/longterm-dev/longterm/session/api"
)

// servesOutput serves a session's output like the daemon: from an offset, in pieces. forgotten is the size of its
// dropped start. Some responses end early, after the bytes in cut (negative: before any).
func servesOutput(t *testing.T, all []byte, forgotten, piece int, cut func() int) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		from, err := strconv.Atoi(r.URL.Query().Get("from"))
		if err != nil || from > len(all) {
			t.Errorf("got request %s", r.URL)
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		begin := max(from, forgotten)
		end := min(begin+piece, len(all))
		for name, value := range map[string]int{"From": begin, "Next": end, "Gap": begin - from} {
			w.Header().Set("Longterm-"+name, strconv.Itoa(value))
		}
		w.Header().Set("Longterm-End", strconv.FormatBool(end == len(all)))
		data := all[begin:end]
		if n := cut(); n >= 0 {
			w.Header().Set("Content-Length", strconv.Itoa(len(data)+1))
			_, _ = w.Write(data[:min(n, len(data))])
			panic(http.ErrAbortHandler) // breaks the connection off
		}
		_, _ = w.Write(data)
	}
}

// TestFollow_ContinuesOverRestarts checks that followed output is complete, in order and without duplicates, however
// often the daemon dies during a response.
// FAULT: A23
// FEATURES: R24
func TestFollow_ContinuesOverRestarts(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	all := make([]byte, 50_000)
	for i := range all {
		all[i] = byte(rng.IntN(256))
	}
	const forgotten, begin = 700, 500
	var mu sync.Mutex // each connection is served on a separate goroutine
	_, c := newFakeDaemon(t, servesOutput(t, all, forgotten, 4096, func() int {
		mu.Lock()
		defer mu.Unlock()
		if rng.IntN(3) > 0 {
			return -1
		}
		return rng.IntN(5000)
	}))
	var got []byte
	var gap uint64
	next := uint64(forgotten)
	err := c.Session("s").Follow(testContext(t), begin, func(o api.Output) error {
		if o.From != next || o.Next != next+uint64(len(o.Data)) {
			t.Errorf("got %d bytes from %d to %d, want those from %d", len(o.Data), o.From, o.Next, next)
		}
		next, gap = o.Next, gap+o.Gap
		got = append(got, o.Data...)
		return nil
	})
	if err != nil || !bytes.Equal(got, all[forgotten:]) || gap != forgotten-begin {
		t.Errorf("got error %v, %d bytes, gap %d", err, len(got), gap)
	}
}

// TestFollow_Ends checks that following ends with the session, the callback's error or a response's error. An empty
// response causes no callback.
func TestFollow_Ends(t *testing.T) {
	t.Parallel()
	never := func() int { return -1 }
	_, c := newFakeDaemon(t, servesOutput(t, nil, 0, 10, never))
	if err := c.Session("s").Follow(testContext(t), 0, func(o api.Output) error { return fmt.Errorf("called with %+v", o) }); err != nil {
		t.Error(err)
	}
	enough := errors.New("enough")
	f, c := newFakeDaemon(t, servesOutput(t, make([]byte, 100), 0, 10, never))
	if err := c.Session("s").Follow(testContext(t), 0, func(api.Output) error { return enough }); err != enough || len(f.requests()) != 1 {
		t.Errorf("got error %v after %d requests", err, len(f.requests()))
	}
	f, c = newFakeDaemon(t, servesOutput(t, make([]byte, 100), 0, 10, never), rejects(api.Errorf(api.CodeNotFound, "it was removed")))
	if err := c.Session("s").Follow(testContext(t), 0, func(api.Output) error { return nil }); errorCode(err) != api.CodeNotFound || len(f.requests()) != 2 {
		t.Errorf("got error %v after %d requests", err, len(f.requests()))
	}
}

// TestOutput_ChecksHeaders checks that a response without the headers of output is an error.
func TestOutput_ChecksHeaders(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		headers map[string]string
		want    api.Output
		err     string
	}{
		{name: "as it is", headers: map[string]string{"From": "5", "Next": "9", "Gap": "2", "End": "true"}, want: api.Output{From: 5, Next: 9, Gap: 2, End: true}},
		{name: "two streams", headers: map[string]string{"From": "0", "Next": "4", "Streams": "out=1,err=3"},
			want: api.Output{Next: 4, Streams: []api.StreamRun{{Stream: "stdout", Bytes: 1}, {Stream: "stderr", Bytes: 3}}}},
		{name: "streams of more", headers: map[string]string{"From": "0", "Next": "4", "Streams": "out=5"}, err: "streams of output"},
		{name: "streams of less", headers: map[string]string{"From": "0", "Next": "4", "Streams": "out=2"}, err: "2 bytes without a stream"},
		{name: "no offsets", err: "not the output of a session"},
		{name: "half of the offsets", headers: map[string]string{"From": "4"}, err: "not the output of a session"},
		{name: "no numbers", headers: map[string]string{"From": "4", "Next": "-1"}, err: "not the output of a session"},
		{name: "backwards", headers: map[string]string{"From": "9", "Next": "5"}, err: "not the output of a session"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, client := newFakeDaemon(t, func(w http.ResponseWriter, _ *http.Request) {
				for name, value := range c.headers {
					w.Header().Set("Longterm-"+name, value)
				}
				_, _ = w.Write([]byte("data"))
			})
			got, err := client.Session("s").Output(testContext(t), 3, 0)
			if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) || len(f.requests()) != 1 {
				t.Fatalf("got error %v after %d requests, want %q", err, len(f.requests()), c.err)
			}
			if err == nil && (string(got.Data) != "data" || got.From != c.want.From || got.Next != c.want.Next || got.Gap != c.want.Gap ||
				got.End != c.want.End || !slices.Equal(got.Streams, c.want.Streams)) {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}

// TestFollow_OneStream checks that the request of each page selects the stream.
func TestFollow_OneStream(t *testing.T) {
	t.Parallel()
	f, c := newFakeDaemon(t, servesOutput(t, make([]byte, 30), 0, 10, func() int { return -1 }))
	if err := c.Session("s").Stream("stderr").Follow(testContext(t), 0, func(api.Output) error { return nil }); err != nil {
		t.Error(err)
	}
	for i, r := range f.requests() {
		if !strings.HasSuffix(r.line, fmt.Sprintf("from=%d&stream=stderr", 10*i)) {
			t.Error(r.line)
		}
	}
}
