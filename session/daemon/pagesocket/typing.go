//go:build unix

package pagesocket

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/apitoken"
	"github.com/longterm-dev/longterm/session/identity"
	"github.com/longterm-dev/longterm/session/web/wire"
	"github.com/longterm-dev/longterm/vterm"
	"github.com/longterm-dev/longterm/vterm/input"
)

// Input from a page waits in a queue per session, so a program that does not read blocks its own session only. While an
// approval for a line is open, nothing is queued: the user may answer minutes later, and input behind the line would
// then run or be appended to the rejected line.
const (
	maxWaiting      = 4096
	maxWaitingBytes = 4 << 20
)

// input queues a page's input for a session.
func (p *sub) input(m *wire.Message) {
	switch {
	case !p.c.mayType():
		p.c.refuse(m, api.Errorf(api.CodeDenied, "input rejected: this login is view-only").WithHint("create one that may type with `longterm web` or `longterm share --type`"))
		return
	case !p.e.Clients.MayType(p.client, time.Now()):
		p.c.refuse(m, api.Errorf(api.CodeDenied, "input rejected: a user made this page view-only").WithHint("`longterm clients S --type N` lets it type again"))
		return
	}
	p.mu.Lock()
	if p.typing == nil {
		p.typing = make(chan wire.Message, maxWaiting)
		typing := p.typing
		p.c.working.Go(func() { p.typeQueued(typing) })
	}
	full, asks := p.queued > maxWaitingBytes, p.inputPaused && m.T != "resize"
	if !full && !asks {
		select {
		case p.typing <- *m:
			p.queued += len(m.Text)
		default:
			full = true
		}
	}
	p.mu.Unlock()
	if asks {
		p.rejectInput(m)
	} else if full {
		p.c.refuse(m, api.Errorf(api.CodeLimit, "the session does not take what is typed").WithHint("wait until its program reads again"))
	}
}

// pauseInput rejects queued and further input, except sizes, while an approval is open.
func (p *sub) pauseInput(queue chan wire.Message) {
	p.mu.Lock()
	p.inputPaused = true
	var left, sizes []wire.Message
	for len(queue) > 0 { // queueing needs the lock, and the only reader waits
		m := <-queue
		if m.T == "resize" {
			sizes = append(sizes, m)
			continue
		}
		p.queued -= len(m.Text)
		left = append(left, m)
	}
	for _, m := range sizes {
		queue <- m // there is room: it was in it
	}
	p.mu.Unlock()
	for i := range left {
		p.rejectInput(&left[i])
	}
}

// resumeInput accepts input again after the approval was answered.
func (p *sub) resumeInput() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.inputPaused = false
}

// rejectInput reports that input was not typed. It acknowledges focus and mouse events, which the user did not type.
func (p *sub) rejectInput(m *wire.Message) {
	if (m.T == "focus" || m.T == "mouse") && m.Q != nil {
		p.acknowledgeInput(*m.Q)
		return
	}
	p.c.refuse(m, api.Errorf(api.CodeNeedsApproval, "input rejected: approval pending for the previous line").
		WithHint("type it again after the answer"))
}

// mayType reports whether the caller may type at all.
func (c *conn) mayType() bool {
	g := c.srv.Host.Grant(c.ctx)
	return g.Rights()&apitoken.Type != 0
}

// typeQueued types the queued input in order.
func (p *sub) typeQueued(queue chan wire.Message) {
	for {
		select {
		case <-p.ctx.Done():
			return
		case m := <-queue:
			err := p.do(&m, func() { p.pauseInput(queue) })
			p.resumeInput()
			p.mu.Lock()
			p.queued -= len(m.Text)
			p.mu.Unlock()
			switch {
			// the page sends it again to the next daemon
			case p.ctx.Err() != nil, m.U != "" && errors.Is(err, session.ErrStopped):
				return
			case err != nil:
				p.c.refuse(&m, err)
			case m.Q != nil:
				p.acknowledgeInput(*m.Q)
			}
		}
	}
}

// do types one message.
func (p *sub) do(m *wire.Message, asked func()) error {
	if m.T == "resize" {
		cols, rows, err := m.Size()
		if err != nil {
			return api.Errorf(api.CodeInvalid, "%v", err)
		}
		if !vterm.ValidSize(cols, rows) {
			return api.Errorf(api.CodeInvalid, "size %d×%d", cols, rows).
				WithHint("columns must be %d to %d, rows %d to %d", vterm.MinCols, vterm.MaxCols, vterm.MinRows, vterm.MaxRows)
		}
		return p.e.Session.Resize(p.ctx, cols, rows)
	}
	t, err := typeRequestOf(m)
	if err != nil {
		return api.Errorf(api.CodeInvalid, "%v", err)
	}
	if t.ID, err = m.RequestID(); err != nil {
		return api.Errorf(api.CodeInvalid, "%v", err)
	}
	t.FromUser = !identity.Of(p.ctx).IsAgent()
	if p.e.UsesPipes() {
		t = withPipeEnter(t)
	}
	if t.ID == "" {
		return p.c.srv.Host.Type(p.ctx, p.e, t, asked)
	}
	// A page that reconnects sends its input again, and the duplicate is not typed. So this one is typed completely,
	// even if the connection ends.
	typed := make(chan error, 1)
	go func() { typed <- p.c.srv.Host.Type(context.WithoutCancel(p.ctx), p.e, t, asked) }()
	select {
	case err := <-typed:
		return err
	case <-p.ctx.Done():
		return p.ctx.Err()
	}
}

// withPipeEnter makes Enter end lines: on a pipe no terminal driver does that.
func withPipeEnter(t session.TypeRequest) session.TypeRequest {
	encode := t.Encode
	if encode == nil {
		return t
	}
	t.Encode = func(dst []byte, v session.View) []byte {
		v.Modes.NewLine = false
		from := len(dst)
		dst = encode(dst, v)
		if len(dst) == from+1 && dst[from] == '\r' {
			dst[from] = '\n'
		}
		return dst
	}
	return t
}

// typeRequestOf converts a message to input. Keys and pastes are encoded later, with the terminal's modes.
func typeRequestOf(m *wire.Message) (session.TypeRequest, error) {
	var t session.TypeRequest
	switch m.T {
	case "key":
		k, err := m.Key()
		if err != nil {
			return t, err
		}
		t.Encode = func(dst []byte, v session.View) []byte { return input.AppendKey(dst, k, &v.Modes) }
	case "mouse":
		e, err := m.Mouse()
		if err != nil {
			return t, err
		}
		t.Encode = func(dst []byte, v session.View) []byte {
			if v.Modes.Mouse == vterm.MouseOff {
				return dst
			}
			return input.AppendMouse(dst, e, &v.Modes)
		}
	case "paste":
		t.Paste = true
		t.Encode = func(dst []byte, v session.View) []byte { return input.AppendPaste(dst, []byte(m.Text), &v.Modes) }
	case "focus":
		t.Encode = func(dst []byte, v session.View) []byte { return input.AppendFocus(dst, m.On, &v.Modes) }
	default: // text of an input method: what is a control character is a key's, or a paste's
		t.Bytes = []byte(strings.Map(func(r rune) rune {
			if r < ' ' && r != '\t' && r != '\r' || r == 0x7f {
				return -1
			}
			return r
		}, m.Text))
	}
	return t, nil
}
