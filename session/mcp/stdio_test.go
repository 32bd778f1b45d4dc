//go:build unix

package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

func filtered(t testing.TB, in string) (passed, answered string) {
	t.Helper()
	var out bytes.Buffer
	b, err := io.ReadAll(newLines(io.NopCloser(strings.NewReader(in)), &out))
	if err != nil {
		t.Fatal(err)
	}
	return string(b), out.String()
}

func TestLinesThatAreNoMessagesAreAnswered(t *testing.T) {
	good := `{"a":"[[[\"]"}` + "\n"
	deep := strings.Repeat("[", maxDepth+1) + strings.Repeat("]", maxDepth+1)
	for name, c := range map[string]struct{ in, passed, answered string }{
		"messages":      {good + good, good + good, ""},
		"empty lines":   {"\n\r\n" + good + "\n", good, ""},
		"no JSON":       {"hello\n" + good, good, "no JSON"},
		"deep":          {deep + "\n" + good, good, "levels at most"},
		"just so deep":  {deep[1:len(deep)-1] + "\n", deep[1:len(deep)-1] + "\n", ""},
		"too long":      {`"` + strings.Repeat("x", maxMessage) + "\"\n" + good, good, "bytes at most"},
		"no end":        {strings.TrimSuffix(good, "\n"), good, ""},
		"half":          {`{"a":`, "", "no JSON"},
		"a byte of NUL": {"\x00\n" + good, good, "no JSON"},
	} {
		passed, answered := filtered(t, c.in)
		if passed != c.passed || !strings.Contains(answered, c.answered) || (c.answered == "") != (answered == "") {
			t.Errorf("%s: passed %d bytes of %d, answered %q", name, len(passed), len(c.passed), answered)
		}
	}
}

// fakeConn is a connection whose other end a test is.
type fakeConn struct {
	sdk.Connection
	in      []jsonrpc.Message
	written []string
}

func (c *fakeConn) Read(context.Context) (jsonrpc.Message, error) {
	if len(c.in) == 0 {
		return nil, io.EOF
	}
	m := c.in[0]
	c.in = c.in[1:]
	return m, nil
}

func (c *fakeConn) Write(_ context.Context, m jsonrpc.Message) error {
	c.written = append(c.written, fmt.Sprint(m.(*jsonrpc.Response).ID.Raw()))
	return nil
}

// A call that its client has cancelled gets no answer; the others do, and an id that is used again is another call.
//
// FEATURES: R85
func TestCancelledCallsGetNoAnswer(t *testing.T) {
	id := func(v any) jsonrpc.ID {
		i, err := jsonrpc.MakeID(v)
		if err != nil {
			t.Fatal(err)
		}
		return i
	}
	cancel := func(params string) *jsonrpc.Request {
		return &jsonrpc.Request{Method: "notifications/cancelled", Params: json.RawMessage(params)}
	}
	to := &fakeConn{in: []jsonrpc.Message{
		&jsonrpc.Request{ID: id(1.0), Method: "a"}, &jsonrpc.Request{ID: id("x"), Method: "b"}, &jsonrpc.Request{ID: id("y"), Method: "c"},
		cancel(`{"requestId":1}`), cancel(`{"requestId":"x"}`), cancel(`{"requestId":"none"}`), cancel(`{"requestId":{}}`), cancel(`[]`),
	}}
	c := &patientConn{Connection: to, none: make(chan struct{}, 1), open: map[jsonrpc.ID]bool{}}
	for range 8 {
		if _, err := c.Read(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	for _, of := range []jsonrpc.ID{id("x"), id("y"), id(1.0)} {
		if err := c.Write(t.Context(), &jsonrpc.Response{ID: of}); err != nil {
			t.Fatal(err)
		}
	}
	to.in = []jsonrpc.Message{&jsonrpc.Request{ID: id("x"), Method: "d"}}
	if _, err := c.Read(t.Context()); err != nil {
		t.Fatal(err)
	}
	_ = c.Write(t.Context(), &jsonrpc.Response{ID: id("x")})
	if !slices.Equal(to.written, []string{"y", "x"}) || c.waits() {
		t.Errorf("answered: %q; waits: %v", to.written, c.waits())
	}
}

func FuzzLines(f *testing.F) {
	f.Add("{}\nx\n[[]]\n")
	f.Add(`"\"[` + "\n")
	f.Fuzz(func(t *testing.T, in string) {
		passed, answered := filtered(t, in)
		for line := range strings.Lines(passed + answered) {
			if !json.Valid([]byte(line)) {
				t.Fatalf("%q of %q", line, in)
			}
		}
	})
}
