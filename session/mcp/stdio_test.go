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

// filterLines returns the lines that pass the filter, and its answers to the others.
func filterLines(t testing.TB, in string) (passed, answered string) {
	t.Helper()
	var out bytes.Buffer
	b, err := io.ReadAll(newLineFilter(io.NopCloser(strings.NewReader(in)), &out))
	if err != nil {
		t.Fatal(err)
	}
	return string(b), out.String()
}

func TestStdio_AnswersInvalidLines(t *testing.T) {
	good := `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":"[[[\"]"}}` + "\n"
	old := `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-03-26"}}` + "\n"
	two := `[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":"1","method":"ping"}]` + "\n"
	deep := strings.Repeat("[", maxDepth+1) + strings.Repeat("]", maxDepth+1)
	for name, c := range map[string]struct{ in, passed, answered string }{
		"messages":      {good + good, good + good, ""},
		"empty lines":   {"\n\r\n" + good + "\n", good, ""},
		"no JSON":       {"hello\n" + good, good, "no JSON"},
		"deep":          {deep + "\n" + good, good, "levels at most"},
		"just so deep":  {deep[1:len(deep)-1] + "\n" + good, good, "not a message"},
		"too long":      {`"` + strings.Repeat("x", maxMessage) + "\"\n" + good, good, "bytes at most"},
		"no end":        {strings.TrimSuffix(good, "\n"), good, ""},
		"half":          {`{"a":`, "", "no JSON"},
		"a byte of NUL": {"\x00\n" + good, good, "no JSON"},

		"a number":                 {"5\n" + good, good, `"id":null,"error":{"code":-32600`},
		"null":                     {"null\n" + good, good, "-32600"},
		"a string":                 {"\"x\"\n" + good, good, "-32600"},
		"no batch":                 {"[]\n[1,2]\n" + two + good, good, "-32600"},
		"nothing":                  {"{}\n" + good, good, "-32600"},
		"no version":               {`{"id":7,"method":"ping"}` + "\n" + good, good, `"id":7,"error":{"code":-32600`},
		"another version":          {`{"jsonrpc":"1.0","id":"a","method":"ping"}` + "\n" + good, good, `"id":"a","error":{"code":-32600`},
		"an id that is none":       {`{"jsonrpc":"2.0","id":{},"method":"ping"}` + "\n" + good, good, "-32600"},
		"a fraction":               {`{"jsonrpc":"2.0","id":1.5,"method":"ping"}` + "\n" + good, good, "an integer"},
		"a huge id":                {`{"jsonrpc":"2.0","id":99999999999999999999999,"method":"ping"}` + "\n" + good, good, "an integer"},
		"a method that is no name": {`{"jsonrpc":"2.0","id":1,"method":5}` + "\n" + good, good, "-32600"},
		"a notification":           {`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n", `{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n", ""},
		"an answer":                {`{"jsonrpc":"2.0","id":"s1","result":{}}` + "\n", `{"jsonrpc":"2.0","id":"s1","result":{}}` + "\n", ""},
		"batches of then":          {old + two, old + two, ""},
		"no batches of then":       {old + "[]\n[1]\n" + `[{"jsonrpc":"2.0","id":1,"method":"a"},{"jsonrpc":"2.0","id":1,"method":"b"}]` + "\n", old, "two messages"},
	} {
		passed, answered := filterLines(t, c.in)
		if passed != c.passed || !strings.Contains(answered, c.answered) || (c.answered == "") != (answered == "") {
			t.Errorf("%s: passed %d bytes of %d, answered %q", name, len(passed), len(c.passed), answered)
		}
	}
}

// fakeConn is a connection whose other end is the test.
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

// TestCancelledCall_NoAnswer checks that a canceled call gets no answer, and that a reused id is another call.
//
// FEATURES: R85
func TestCancelledCall_NoAnswer(t *testing.T) {
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
	c := &drainingConn{Connection: to, drained: make(chan struct{}, 1), openCalls: map[jsonrpc.ID]bool{}}
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
	if !slices.Equal(to.written, []string{"y", "x"}) || c.hasOpenCalls() {
		t.Errorf("answered: %q; waits: %v", to.written, c.hasOpenCalls())
	}
}

func FuzzLines(f *testing.F) {
	f.Add("{}\nx\n[[]]\n")
	f.Add(`"\"[` + "\n")
	f.Fuzz(func(t *testing.T, in string) {
		passed, answered := filterLines(t, in)
		for line := range strings.Lines(passed + answered) {
			if !json.Valid([]byte(line)) {
				t.Fatalf("%q of %q", line, in)
			}
		}
	})
}

// TestInvalidMessage_AnswerIsJSON checks that the error for an invalid message is JSON, whatever the message contains.
func TestInvalidMessage_AnswerIsJSON(t *testing.T) {
	_, answered := filterLines(t, `{"jsonrpc":"\u0007\u007f\u2028","id":1,"method":"ping"}`+"\n")
	if !json.Valid([]byte(answered)) || !strings.Contains(answered, "-32600") {
		t.Errorf("%q", answered)
	}
}

// TestStdio_EndsWithCallInProgress checks that a server on standard input and output which is asked to end does so at
// once, with a call in progress and its input still open; the call is answered.
//
// FEATURES: R88
func TestStdio_EndsWithCallInProgress(t *testing.T) {
	s := newOfflineServer(t, All)
	begun := make(chan struct{})
	s.levels[All].AddReceivingMiddleware(func(next sdk.MethodHandler) sdk.MethodHandler {
		return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
			if method != "tools/call" {
				return next(ctx, method, req)
			}
			return s.limitCalls(All)(func(ctx context.Context, _ string, _ sdk.Request) (sdk.Result, error) {
				close(begun)
				<-ctx.Done()
				return nil, ctx.Err()
			})(ctx, method, req)
		}
	})
	in, typed := io.Pipe()
	shown, out := io.Pipe()
	ctx, end := context.WithCancel(t.Context())
	over := make(chan error, 1)
	go func() {
		over <- s.Run(ctx, &drainingTransport{Transport: &sdk.IOTransport{Reader: in, Writer: out}})
	}()
	c := json.NewDecoder(shown)
	ask := func(id int, method, params string) {
		if _, err := fmt.Fprintf(typed, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n", id, method, params); err != nil {
			t.Fatal(err)
		}
	}
	answered := func(id int) {
		var m struct{ ID int }
		if err := c.Decode(&m); err != nil || m.ID != id {
			t.Fatalf("the answer to %d: %+v, %v", id, m, err)
		}
	}
	ask(1, "initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}`)
	answered(1)
	if _, err := io.WriteString(typed, `{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n"); err != nil {
		t.Fatal(err)
	}
	ask(2, "tools/call", `{"name":"exec","arguments":{"line":"sleep 9"}}`)
	<-begun
	end()
	answered(2)
	go io.Copy(io.Discard, shown)
	<-over // the test's own limit applies if it hangs
}
