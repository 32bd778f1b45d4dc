//go:build unix

package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// longtermDriver runs tasks as an agent that calls the tools of longterm's MCP server.
type longtermDriver struct {
	b            *agentBench
	s            *sdk.ClientSession
	calls        int
	requestBytes int               // bytes of requests
	answerBytes  int               // bytes of answers
	terminals    map[string]string // session ids by the steps' terminal names
	readTo       map[string]uint64 // output offset up to which the agent has read each session
}

func newLongtermDriver(ctx context.Context, b *agentBench) (agentDriver, error) {
	w := &longtermDriver{b: b, terminals: map[string]string{}, readTo: map[string]uint64{}}
	if err := w.connect(ctx); err != nil {
		return nil, err
	}
	if b.report.Schema == 0 {
		list, err := w.s.ListTools(ctx, nil)
		if err != nil {
			return nil, err
		}
		text, err := json.Marshal(list)
		if err != nil {
			return nil, err
		}
		b.report.Schema = len(text) / 4
	}
	return w, nil
}

func (w *longtermDriver) connect(ctx context.Context) (err error) {
	cmd := w.b.command(context.WithoutCancel(ctx), w.b.self, "mcp", "--agent", "bench")
	cmd.Dir = w.b.dir
	w.s, err = sdk.NewClient(&sdk.Implementation{Name: "bench", Version: "1"}, nil).Connect(context.WithoutCancel(ctx), &sdk.CommandTransport{Command: cmd}, nil)
	return err
}

func (w *longtermDriver) name() string { return "longterm" }
func (w *longtermDriver) usage() (calls, asked, bytes int) {
	return w.calls, w.requestBytes, w.requestBytes + w.answerBytes
}

// close ends the task's sessions and the server.
func (w *longtermDriver) close() {
	ctx := context.Background()
	for _, id := range w.terminals {
		_, _ = w.s.CallTool(ctx, &sdk.CallToolParams{Name: "stop", Arguments: map[string]any{"id": id}})
	}
	_ = w.s.Close()
}

// crash kills the daemon.
func (w *longtermDriver) crash(ctx context.Context) error {
	out, err := w.b.lt(ctx, "daemon", "status", "--json")
	if err != nil {
		return err
	}
	var st struct {
		PID int `json:"daemon_pid"`
	}
	if err := json.Unmarshal([]byte(out), &st); err != nil {
		return err
	}
	p, err := os.FindProcess(st.PID)
	if err != nil {
		return err
	}
	return p.Kill()
}

// restart replaces the agent by one without memory, and its MCP server by a new one.
func (w *longtermDriver) restart(ctx context.Context) error {
	_ = w.s.Close()
	clear(w.readTo)
	return w.connect(ctx)
}

// agentReply is the server's answer to a tool call.
type agentReply struct {
	raw     string // the whole answer, as the agent reads it
	State   string `json:"state"`
	Needs   string `json:"needs"`
	Session string `json:"session"`
	Job     string `json:"job"`
	Cursor  uint64 `json:"cursor"`
	Results []agentReply
	Jobs    []struct {
		ID string `json:"id"`
	} `json:"jobs"`
}

// isRunning reports whether the session's work continues.
func (r *agentReply) isRunning() bool { return r.State == "running" }

func (w *longtermDriver) call(ctx context.Context, tool string, args map[string]any) (agentReply, error) {
	asked, err := plainJSON(args)
	if err != nil {
		return agentReply{}, err
	}
	w.calls++
	res, err := w.s.CallTool(ctx, &sdk.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		return agentReply{}, err
	}
	var text strings.Builder
	for _, c := range res.Content {
		if t, ok := c.(*sdk.TextContent); ok {
			text.WriteString(t.Text)
		}
	}
	structured, err := plainJSON(res.StructuredContent)
	if err != nil {
		return agentReply{}, err
	}
	w.requestBytes += len(tool) + len(asked)
	w.answerBytes += max(text.Len(), len(structured))
	if res.IsError {
		return agentReply{}, errors.New(text.String())
	}
	var r agentReply
	if err := json.Unmarshal(structured, &r); err != nil {
		return agentReply{}, err
	}
	r.raw = text.String()
	if len(r.Results) > 0 {
		of := r.Results[0]
		r.State, r.Needs, r.Session, r.Job, r.Cursor = of.State, of.Needs, of.Session, of.Job, of.Cursor
	}
	return r, nil
}

// plainJSON encodes a value as clients do: without Go's escapes of < and >.
func plainJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// agentCalls limits an agent's calls in one step.
const agentCalls = 10

// agentYield is the limit of one call, in seconds.
const agentYield = 45

func (w *longtermDriver) do(ctx context.Context, s *step) (string, error) {
	if s.fault == "restart" {
		return w.runOverRestart(ctx, s)
	}
	r, err := w.startStep(ctx, s)
	shown := r.raw
	if r.Session != "" {
		w.terminals[s.terminal] = r.Session
		w.readTo[s.terminal] = r.Cursor
	}
	for most := w.calls + agentCalls; err == nil && s.until != "" && !w.hasLearned(s, &r, shown); {
		if w.calls >= most {
			return shown, fmt.Errorf("agent stuck: %s", r.raw)
		}
		args := map[string]any{"for": []string{w.terminals[s.terminal]}, "yield": agentYield}
		if r.Cursor > 0 { // what it was shown is not shown again
			args["since"] = r.Cursor
		}
		if s.until == "input" && r.Needs == "screen" { // a full-screen program: what does it show?
			r, err = w.call(ctx, "screen", map[string]any{"session": w.terminals[s.terminal]})
			if shown += r.raw; err != nil || regexp.MustCompile(s.want).MatchString(shown) {
				return shown, err
			}
		}
		if s.until != "end" {
			args["until"] = "regexp=" + s.want
		}
		r, err = w.call(ctx, "wait", args)
		shown += r.raw
		w.readTo[s.terminal] = max(w.readTo[s.terminal], r.Cursor)
	}
	if err == nil && s.find != "" && !regexp.MustCompile(s.want).MatchString(shown) {
		args := map[string]any{"text": s.find, "limit": 5}
		if id := w.terminals[s.terminal]; id != "" {
			args["session"] = id
		}
		r, err = w.call(ctx, "search", args)
		shown += r.raw
	}
	return shown, err
}

// hasLearned reports whether the agent knows of a step's event.
func (w *longtermDriver) hasLearned(s *step, r *agentReply, shown string) bool {
	saw := s.want == "" || regexp.MustCompile(s.want).MatchString(shown)
	switch s.until {
	case "end":
		return !r.isRunning() && !strings.HasPrefix(r.State, "needs")
	case "text":
		return saw
	}
	return saw && (r.Needs != "" || strings.HasPrefix(r.State, "needs") || !r.isRunning())
}

// startStep makes the first call of a step.
func (w *longtermDriver) startStep(ctx context.Context, s *step) (agentReply, error) {
	session := w.terminals[s.terminal]
	switch {
	case s.typed != "":
		return w.call(ctx, "input", map[string]any{"session": session, "text": s.typed, "enter": true})
	case len(s.keys) > 0:
		return w.call(ctx, "input", map[string]any{"session": session, "keys": s.keys})
	case s.run == "" && s.fault != "": // something happens that the agent waits for
		return w.call(ctx, "wait", w.withCursor(s, map[string]any{"for": []string{session}, "until": "regexp=" + s.want, "yield": agentYield}))
	case s.run == "": // started earlier
		return w.call(ctx, "wait", w.withCursor(s, map[string]any{"for": []string{session}, "yield": agentYield}))
	case s.interactive:
		args := map[string]any{"line": s.run, "cwd": w.b.dir}
		if s.until == "text" {
			args["yield"] = 1
		}
		return w.call(ctx, "start", args)
	case s.until == "":
		return w.call(ctx, "exec", map[string]any{"line": s.run, "cwd": w.b.dir, "yield": 0})
	}
	return w.call(ctx, "exec", map[string]any{"line": s.run, "cwd": w.b.dir, "yield": agentYield})
}

// withCursor adds the session and the last read offset to a call's arguments.
func (w *longtermDriver) withCursor(s *step, args map[string]any) map[string]any {
	if at := w.readTo[s.terminal]; at > 0 {
		args["since"] = at
	}
	return args
}

// runOverRestart starts a line, replaces the agent while it runs, and finds the line.
func (w *longtermDriver) runOverRestart(ctx context.Context, s *step) (string, error) {
	r, err := w.call(ctx, "exec", map[string]any{"line": s.run, "cwd": w.b.dir, "yield": faultDelay.Seconds()})
	if err != nil {
		return "", err
	}
	w.terminals[s.terminal] = r.Session
	if err := w.restart(ctx); err != nil {
		return "", err
	}
	if r, err = w.call(ctx, "jobs", map[string]any{"running": true}); err != nil {
		return "", err
	}
	if len(r.Jobs) == 0 {
		return "", fmt.Errorf("the job is not found again: %s", r.raw)
	}
	r, err = w.call(ctx, "wait", map[string]any{"for": []string{r.Jobs[0].ID}, "yield": agentYield})
	return r.raw, err
}
