//go:build unix

package mcp

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strconv"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/longterm-dev/longterm/render/cast"
	"github.com/longterm-dev/longterm/session/agentcontext"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/client"
	"github.com/longterm-dev/longterm/vterm/plaintext"
)

// resource is an entry of the table of resources.
type resource struct {
	uri, name, about, mime string
	read                   func(*Server, context.Context, *address) (string, error)
}

// resources is the table of resources.
var resources = []resource{
	{"longterm://session/{id}", "session", "A session: state, directory, what runs", "application/json", (*Server).readSession},
	{"longterm://session/{id}/output{?from,to,transcript}", "output", "What a session printed, as text; transcript=true: what its terminal showed, of full-screen programs too", "text/plain", (*Server).readOutput},
	{"longterm://session/{id}/screen", "screen", "What a session's terminal shows", "text/plain", (*Server).readScreen},
	{"longterm://session/{id}/command/{n}", "command", "A command of a session's shell and what it printed", "text/plain", (*Server).readCommand},
	{"longterm://session/{id}/changes{?command}", "changes", "The files that a session with a draft changed; they are as before until the user commits the draft. command=n: during command n", "application/json", (*Server).readChanges},
	{"longterm://session/{id}/diff{?path}", "diff", "What a session with a draft changed, as a unified diff; path=: only there", "text/x-diff", (*Server).readDiff},
	{"longterm://session/{id}/recording", "recording", "A session as a recording, asciicast 2", "application/x-asciicast", (*Server).readRecording},
}

// contextURI is the resource of the commands that the user ran.
const contextURI = "longterm://context"

// address is a parsed URI of a resource.
type address struct {
	session  string
	part     string // "", output, screen, command, changes, diff, recording
	n        int    // of command
	path     string // of diff; "": all
	from, to uint64 // of output

	transcript bool // lines that the terminal showed, instead of output
}

// maxURI bounds the length of a URI, in bytes.
const maxURI = 2 << 10

// parseURI reads a URI of a session.
func parseURI(uri string) (*address, error) {
	wrong := func(what string) (*address, error) {
		return nil, fmt.Errorf("%s is no resource (%s); there are longterm://session/ID, and below it output?from=&to=, screen, command/N, changes?command=, diff?path=, recording", quoteName(uri), what)
	}
	if len(uri) > maxURI {
		return wrong("it is too long")
	}
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "longterm" || u.Host != "session" || u.User != nil || u.Fragment != "" {
		return wrong("its form")
	}
	parts := strings.Split(strings.TrimPrefix(u.EscapedPath(), "/"), "/")
	for i := range parts {
		if parts[i], err = url.PathUnescape(parts[i]); err != nil {
			return wrong("its form")
		}
	}
	a := &address{session: parts[0]}
	if a.session == "" {
		return wrong("no session is named")
	}
	switch len(parts) {
	case 1:
	case 2:
		a.part = parts[1]
	case 3:
		a.part = parts[1]
		if a.n, err = strconv.Atoi(parts[2]); err != nil || a.n < 0 || a.part != "command" {
			return wrong("the number of the command")
		}
	default:
		return wrong("its parts")
	}
	switch a.part {
	case "", "screen", "recording":
	case "command":
		if len(parts) != 3 {
			return wrong("the number of the command is missing")
		}
	case "changes", "diff":
		q, err := url.ParseQuery(u.RawQuery)
		if err != nil {
			return wrong("its query")
		}
		if v := q.Get("command"); v != "" && a.part == "changes" {
			if a.n, err = strconv.Atoi(v); err != nil || a.n < 1 {
				return wrong("the number of the command")
			}
		}
		if a.part == "diff" {
			a.path = q.Get("path")
		}
	case "output":
		q, err := url.ParseQuery(u.RawQuery)
		if err != nil {
			return wrong("its query")
		}
		a.transcript = q.Get("transcript") == "true"
		for name, p := range map[string]*uint64{"from": &a.from, "to": &a.to} {
			if v := q.Get(name); v != "" {
				if *p, err = strconv.ParseUint(v, 10, 64); err != nil {
					return wrong(name)
				}
			}
		}
	default:
		return wrong("its parts")
	}
	return a, nil
}

// maxResource bounds a resource's text, in bytes.
const maxResource = 1 << 20

// addResources registers the resources.
func (s *Server) addResources(server *sdk.Server, l Level) {
	for i := range resources {
		r := &resources[i]
		server.AddResourceTemplate(&sdk.ResourceTemplate{URITemplate: r.uri, Name: r.name, Description: r.about, MIMEType: r.mime},
			func(ctx context.Context, req *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
				a, err := parseURI(req.Params.URI)
				if err != nil {
					return nil, invalidParams("%v", err)
				}
				return s.readContents(ctx, req, r.mime, func(ctx context.Context) (string, error) { return r.read(s, ctx, a) })
			})
	}
	s.addCompletions(server, l)
	server.AddResource(&sdk.Resource{URI: contextURI, Name: "context", MIMEType: "text/plain", Description: "What a user ran in shells since you last read this, and what it printed; each command once"},
		func(ctx context.Context, req *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
			return s.readContents(ctx, req, "text/plain", s.readContext)
		})
}

// readContents reads a resource with its own slot and time limit.
func (s *Server) readContents(ctx context.Context, req *sdk.ReadResourceRequest, mime string, read func(context.Context) (string, error)) (*sdk.ReadResourceResult, error) {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	free, err := s.limiter.acquire(ctx, s.slotOf(req), false)
	if err != nil {
		return nil, err
	}
	defer free()
	text, err := read(ctx)
	var e *api.Error
	switch {
	case isNotFound(err):
		what := ""
		if errors.As(err, &e) {
			what = " (" + e.Message + ")" // the session may exist without such a command
		}
		return nil, &jsonrpc.Error{
			Code: jsonrpc.CodeInvalidParams, Message: "Resource not found" + what + "; the tool list names the sessions there are",
			Data: mustJSON(map[string]string{"uri": req.Params.URI}),
		}
	case errors.As(err, &e):
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: e.Error(), Data: mustJSON(map[string]string{"uri": req.Params.URI})}
	case err != nil:
		return nil, err
	}
	return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: req.Params.URI, MIMEType: mime, Text: cmp.Or(plaintext.Visible(text), "\n")}}}, nil // without a text the result would be invalid
}

// mustJSON returns v as JSON. v must be encodable.
func mustJSON(v any) json.RawMessage {
	b, _ := json.Marshal(v) // of texts
	return b
}

// readSession reads a session's state.
func (s *Server) readSession(ctx context.Context, a *address) (string, error) {
	v, err := s.client(ctx).Session(a.session).Info(ctx)
	if err != nil {
		return "", err
	}
	b, err := json.MarshalIndent(v, "", " ")
	return string(b), err
}

// readOutput reads a session's output.
func (s *Server) readOutput(ctx context.Context, a *address) (string, error) {
	t, err := s.client(ctx).Session(a.session).Text(ctx, client.TextQuery{From: a.from, To: a.to, MaxOutput: maxResource, Transcript: a.transcript})
	return t.Text, err
}

// readScreen reads a session's screen.
func (s *Server) readScreen(ctx context.Context, a *address) (string, error) {
	b, err := s.client(ctx).Session(a.session).ScreenAs(ctx, client.ScreenQuery{}, "text")
	return string(b), err
}

// readCommand reads a command with its output.
func (s *Server) readCommand(ctx context.Context, a *address) (string, error) {
	c := s.client(ctx).Session(a.session)
	v, err := c.Command(ctx, a.n)
	if err != nil {
		return "", err
	}
	var out api.OutputText
	if v.Output.End > v.Output.Start {
		if out, err = c.Text(ctx, client.TextQuery{From: v.Output.Start, To: v.Output.End, MaxOutput: maxResource}); err != nil {
			return "", err
		}
	}
	return commandText(&v, out.Text), nil
}

// commandText returns a command with its output.
func commandText(c *api.Command, output string) string {
	exit := c.State
	if c.ExitCode != nil {
		exit = "exited " + strconv.Itoa(*c.ExitCode)
	}
	if output != "" && !strings.HasSuffix(output, "\n") {
		output += "\n"
	}
	return fmt.Sprintf("$ %s\n%s[%s · session %s · command %d · %s]\n", c.Text, output, exit, c.Name, c.N, c.Cwd)
}

// readChanges reads the changes of a session's draft. It omits those beyond the limit of a resource.
func (s *Server) readChanges(ctx context.Context, a *address) (string, error) {
	d, err := s.client(ctx).Session(a.session).Changes(ctx, a.n)
	if err != nil {
		return "", err
	}
	v := struct {
		api.Draft
		Omitted int `json:"omitted,omitempty"` // changes that are not listed
	}{Draft: d}
	for {
		b, err := json.MarshalIndent(v, "", " ")
		if err != nil || len(b) <= maxResource || len(v.Changes) == 0 {
			return string(b), err
		}
		v.Omitted += len(v.Changes) - len(v.Changes)/2
		v.Changes = v.Changes[:len(v.Changes)/2]
	}
}

// readDiff reads the changes of a session's draft as a diff.
func (s *Server) readDiff(ctx context.Context, a *address) (string, error) {
	var paths []string
	if a.path != "" {
		paths = []string{a.path}
	}
	d, err := s.client(ctx).Session(a.session).Diff(ctx, paths)
	if err != nil {
		return "", err
	}
	if len(d.Text) > maxResource {
		d.Text, d.Truncated = d.Text[:strings.LastIndexByte(d.Text[:maxResource], '\n')+1], true
	}
	if d.Truncated {
		d.Text += "[the diff is longer; name a part of it as in longterm://session/" + api.ShortID(a.session) + "/diff?path=PATH]\n"
	}
	return d.Text, nil
}

// maxRecording bounds a recording, which is in one answer.
const maxRecording = 8 * maxResource

// readRecording reads a session's recording.
func (s *Server) readRecording(ctx context.Context, a *address) (string, error) {
	v, err := s.client(ctx).Session(a.session).Info(ctx)
	if err != nil {
		return "", err
	}
	long := api.Errorf(api.CodeLimit, "the recording is longer than %d MiB", maxRecording>>20).
		WithHint("`longterm export` writes it to a file; longterm://session/%s/output?from=0&to=100000 is part of the output", api.ShortID(v.ID))
	if v.Output.End-v.Output.Start > maxRecording { // a recording is longer than the output
		return "", long
	}
	records, err := s.client(ctx).Session(a.session).Records(ctx, "", "")
	if err != nil {
		return "", err
	}
	defer records.Close()
	var b bytes.Buffer
	var w *cast.Writer
	for {
		r, err := records.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return "", err
		}
		if w == nil {
			if w, err = cast.NewWriter(&b, cast.Header{Version: cast.V2, Cols: r.Cols, Rows: r.Rows, Started: r.Time}); err != nil {
				return "", err
			}
		}
		switch r.Kind {
		case "screen", "output":
			err = w.Output(r.Time, r.Data)
		case "resize":
			err = w.Resize(r.Time, r.Cols, r.Rows)
		}
		if err != nil {
			return "", err
		}
		if b.Len() > maxRecording {
			return "", long
		}
	}
	if w == nil {
		return "", api.Errorf(api.CodeNotFound, "the session %s has no history", a.session)
	}
	if err := w.Close(); err != nil {
		return "", err
	}
	return b.String(), nil
}

// readContext returns the commands that the user ran since this agent's last request, once.
func (s *Server) readContext(ctx context.Context) (string, error) {
	req := requestOf(ctx)
	who := "mcp:" + cmp.Or(s.agents.fixedLabel, agentOf(req), defaultAgent)
	text := ""
	err := agentcontext.Take(ctx, s.client(ctx), s.options.Contexts, agentcontext.Asking{Consumer: who}, func(t agentcontext.Taken) error {
		text = cmp.Or(t.Text(), "nothing new: the user ran no shell command since your last request\n")
		return nil
	})
	return text, err
}

// shortOffset returns an offset for use in a name.
func shortOffset(n uint64) string { return strconv.FormatUint(n, 36) }
