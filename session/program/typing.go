package program

import (
	"bytes"
	"context"
	"errors"
	"time"

	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/session/respond"
	"github.com/longterm-dev/longterm/vterm/input"
)

// Send types text literally; Enter is \r.
func (p *Program) Send(text string) error {
	return p.typeInput(context.Background(), session.TypeRequest{Encode: func(dst []byte, _ session.View) []byte { return append(dst, text...) }}, false)
}

// Keys types keys by name: "<Enter>", "<C-c>", "<Up>", "abc<Tab>".
func (p *Program) Keys(names string) error {
	keys, err := input.ParseKeys(names)
	if err != nil {
		return err
	}
	return p.typeInput(context.Background(), session.TypeRequest{Encode: func(dst []byte, v session.View) []byte {
		for _, k := range keys {
			dst = input.AppendKey(dst, k, &v.Modes)
		}
		return dst
	}}, false)
}

// Paste types text as a terminal pastes it: bracketed if the program enabled that.
func (p *Program) Paste(text string) error {
	return p.typeInput(context.Background(), session.TypeRequest{Paste: true, Encode: func(dst []byte, v session.View) []byte {
		return input.AppendPaste(dst, []byte(text), &v.Modes)
	}}, false)
}

// typeInput types input, and reports it to the expecter when the session's owner types it: after earlier output and
// before later output.
func (p *Program) typeInput(ctx context.Context, t session.TypeRequest, secret bool) error {
	encode := t.Encode
	t.Encode = func(dst []byte, v session.View) []byte {
		data := encode(dst, v)
		r := &p.expectReader
		r.mu.Lock()
		defer r.mu.Unlock()
		for buf := make([]byte, 16<<10); p.feedLocked(buf); {
		}
		echo := p.host.echoState()
		r.expecter.SetEcho(echo)
		if echo != respond.EchoApp || mayEcho(data, p.session.Status().Alt) {
			r.expecter.HandleInput(respond.Input{Data: data, Secret: secret})
		}
		return data
	}
	_, err := p.session.Type(ctx, t)
	return err
}

// mayEcho reports whether a program with its own echo may show data. A full-screen program draws other text. Keys that
// are a command and no line are not shown; if their echo were expected, equal text of the program would be missed.
func mayEcho(data []byte, alt bool) bool {
	if alt || len(data) == 0 {
		return false
	}
	if last := data[len(data)-1]; last == '\r' || last == '\n' {
		return true
	}
	return !bytes.ContainsFunc(data, func(r rune) bool { return r < ' ' && r != '\t' && r != '\b' })
}

// ErrEchoed is returned by Secret if the terminal would have shown the secret.
var ErrEchoed = errors.New("the secret was not sent: the terminal shows what is typed")

// echoOffTimeout is how long the terminal may echo after the prompt until a secret is rejected.
const echoOffTimeout = time.Second

// Secret types a secret once the terminal echoes nothing, as at a password prompt. If it still echoes after a second,
// nothing is typed and the error is ErrEchoed. The secret is recorded nowhere. It does not include Enter.
func (p *Program) Secret(ctx context.Context, secret []byte) error {
	ctx, cancel := context.WithTimeoutCause(ctx, echoOffTimeout, ErrEchoed)
	defer cancel()
	for p.host.echoState() != respond.EchoOff {
		t := time.NewTimer(time.Millisecond)
		select {
		case <-t.C:
		case <-ctx.Done():
			t.Stop()
			return context.Cause(ctx)
		case <-p.watch.Done:
			t.Stop()
			return session.ErrStopped
		}
	}
	// A mainHost has no descriptor to check. Its echo was checked above.
	isMain := p.host.Control(func(int) error { return nil }) != nil
	err := p.typeInput(ctx, session.TypeRequest{Secret: true, Force: isMain, Encode: func(dst []byte, _ session.View) []byte { return append(dst, secret...) }}, true)
	if errors.Is(err, session.ErrEcho) || errors.Is(err, session.ErrMayEcho) { // the program has enabled echo since
		return ErrEchoed
	}
	return err
}
