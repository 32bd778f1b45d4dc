//go:build unix

// Package link is the client of a keeper's socket, for the daemon and tools. Any goroutine may make requests; one
// goroutine delivers notices in their order of arrival.
package link

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/longterm-dev/longterm/session/keeper/wire"
	"github.com/longterm-dev/longterm/session/sys/unixsock"
)

// Notices receives a keeper's notices. Its methods must not block: they run on the goroutine that reads the socket.
type Notices interface {
	Output(id string)    // Output reports new output of a session.
	Exited(*wire.Exited) // Exited reports the exit of a session's process.
	Closed(*wire.Closed) // Closed reports that a session's output has ended.
}

// Executions extends Notices with execution checks. Executions that other Notices receive stay pending.
type Executions interface {
	// Execution receives an execution before its end is reported. The returned function checks and answers it, and may take
	// time. It calls aside before slow work: then another goroutine reads on at once. nil: nothing to check here.
	Execution(*wire.Execution) (judge func(aside func()))
	ExecutionEnded(*wire.ExecutionEnded) // ExecutionEnded reports that an execution no longer waits.
}

// RejectionRecorder is implemented by Notices that record refused callers.
type RejectionRecorder interface{ RecordRejection(*wire.Rejected) } // RecordRejection records rejected callers.

// discardNotices ignores all notices: a keeper also reports the end of an ended session to a tool that adopts it.
type discardNotices struct{}

func (discardNotices) Output(string)       {}
func (discardNotices) Exited(*wire.Exited) {}
func (discardNotices) Closed(*wire.Closed) {}

// Errors that a keeper's answers report.
var (
	ErrNotFound  = errors.New("the keeper has no such session")
	ErrExists    = errors.New("the keeper has a session with this id already")
	ErrBusy      = errors.New("the keeper has running sessions")
	ErrCrashLoop = errors.New("the daemon keeps crashing")
	ErrNoCgroup  = errors.New("the keeper cannot set limits")
	ErrLost      = errors.New("the connection to the keeper was lost")
	ErrRejected  = errors.New("the keeper refused this process")
	// ErrUnanswered is an ErrLost after a request was sent: the keeper may have executed it.
	ErrUnanswered = fmt.Errorf("%w before it answered", ErrLost)
)

// errorOfCode maps codes of answers to errors.
var errorOfCode = map[string]error{
	wire.CodeNotFound:  ErrNotFound,
	wire.CodeExists:    ErrExists,
	wire.CodeBusy:      ErrBusy,
	wire.CodeCrashLoop: ErrCrashLoop,
	wire.CodeNoCgroup:  ErrNoCgroup,
}

// Link is a connection to a keeper.
type Link struct {
	conn    *wire.Conn
	hello   wire.Hello // the keeper's
	notices Notices
	closedC chan struct{} // closed when the connection has ended

	mu      sync.Mutex       // guards the fields below and writes to conn
	req     uint64           // number of the last request
	pending map[uint64]*call // by number
	answers answerState
	reading readerState
}

// call is a request in progress. Answers go to a channel until the caller closes abandoned.
type call struct {
	link      *Link
	req       uint64
	answers   chan answer // closed by the connection's end
	abandoned chan struct{}
}

// answer is a message that answers a request, with its files.
type answer struct {
	msg   wire.Message
	files []*os.File
}

// handshakeTimeout bounds how long a keeper may take to greet. A stopped one never does.
var handshakeTimeout = 10 * time.Second

// Dial connects to the keeper at a socket. notices may be nil for tools.
func Dial(path, role, build string, notices Notices) (*Link, error) {
	uc, err := unixsock.Dial(path)
	if err != nil {
		return nil, err
	}
	if notices == nil {
		notices = discardNotices{}
	}
	l := &Link{
		conn: wire.NewConn(uc), notices: notices,
		closedC: make(chan struct{}), pending: map[uint64]*call{},
	}
	err = uc.SetDeadline(time.Now().Add(handshakeTimeout))
	if err == nil {
		err = l.handshake(role, build)
	}
	if err = errors.Join(err, uc.SetDeadline(time.Time{})); err != nil {
		return nil, errors.Join(err, l.conn.Close())
	}
	go l.read()
	return l, nil
}

// handshake exchanges Hello messages.
func (l *Link) handshake(role, build string) error {
	err := l.conn.Write(&wire.Hello{
		Version: wire.Version, MinVersion: wire.Version,
		Build: build, Role: role, PID: int64(os.Getpid()),
	})
	if err != nil {
		return fmt.Errorf("greet the keeper: %w", err)
	}
	f, _, err := l.conn.Read()
	if err != nil {
		return fmt.Errorf("greet the keeper: %w", err)
	}
	if f.Kind != wire.KindHello {
		return fmt.Errorf("greet the keeper: answered with kind %d", f.Kind)
	}
	if err := wire.Decode(f.Payload, &l.hello); err != nil {
		return err
	}
	if l.hello.MinVersion > wire.Version || l.hello.Version < wire.Version {
		return fmt.Errorf("keeper %q speaks protocol %d to %d, this program %d; run the longterm that started it, or end its sessions",
			l.hello.Build, l.hello.MinVersion, l.hello.Version, wire.Version)
	}
	if l.hello.Rejection != "" {
		return fmt.Errorf("%w: %s", ErrRejected, l.hello.Rejection)
	}
	return nil
}

// Hello returns the keeper's greeting.
func (l *Link) Hello() wire.Hello { return l.hello }

// Closed returns a channel that is closed when the connection has ended.
func (l *Link) Closed() <-chan struct{} { return l.closedC }

// Close ends the connection. Requests in progress get ErrLost.
func (l *Link) Close() error { return l.conn.Close() }

// fail ends the connection after an error.
func (l *Link) fail() {
	_ = l.conn.Close()
	l.mu.Lock()
	defer l.mu.Unlock()
	for req, c := range l.pending {
		close(c.answers)
		delete(l.pending, req)
	}
	l.answers.closeLocked()
	close(l.closedC)
}

// receive handles a frame. It returns the execution to check, if any.
func (l *Link) receive(f wire.Frame, files []*os.File) (e *wire.Execution, judge func(aside func()), err error) {
	to, ok := l.notices.(Executions)
	if f.Kind == wire.KindExecution && ok {
		closeAll(files)
		err = deliverNotice(f, func(m *wire.Execution) {
			if l.noteExecution(m) {
				e, judge = m, to.Execution(m)
			}
		})
		return e, judge, err
	}
	return nil, nil, l.deliver(f, files)
}

// deliver passes a notice or an answer to its receiver.
func (l *Link) deliver(f wire.Frame, files []*os.File) error {
	switch f.Kind {
	case wire.KindOutput:
		return deliverNotice(f, func(m *wire.Output) { l.notices.Output(m.ID) })
	case wire.KindExited:
		return deliverNotice(f, func(m *wire.Exited) { l.notices.Exited(m) })
	case wire.KindClosed:
		return deliverNotice(f, func(m *wire.Closed) { l.notices.Closed(m) })
	case wire.KindRejected:
		if to, ok := l.notices.(RejectionRecorder); ok {
			return deliverNotice(f, to.RecordRejection)
		}
		return nil
	case wire.KindExecutionEnded:
		closeAll(files)
		if to, ok := l.notices.(Executions); ok {
			return deliverNotice(f, func(m *wire.ExecutionEnded) {
				if l.wasUnanswered(m) {
					to.ExecutionEnded(m)
				}
			})
		}
		return nil
	case wire.KindExecutionListener:
		return deliverNotice(f, func(m *wire.ExecutionListener) { l.setListener(sessionRun{m.ID, m.Run}, files) })
	case wire.KindExecutionInbox:
		return deliverNotice(f, func(m *wire.ExecutionInbox) { l.setInbox(sessionRun{m.ID, m.Run}, files) })
	case wire.KindSpawned:
		return deliverReply(l, f, files, func(m *wire.Spawned) uint64 { return m.Req })
	case wire.KindSession:
		return deliverReply(l, f, files, func(m *wire.Session) uint64 { return m.Req })
	case wire.KindDone:
		return deliverReply(l, f, files, func(m *wire.Done) uint64 { return m.Req })
	case wire.KindStatusReply:
		return deliverReply(l, f, files, func(m *wire.StatusReply) uint64 { return m.Req })
	}
	closeAll(files)
	return nil
}

// message constrains M to message structs, whose pointers implement wire.Message.
type message[M any] interface {
	*M
	wire.Message
}

// deliverNotice decodes a notice and passes it to deliver.
func deliverNotice[M any, P message[M]](f wire.Frame, deliver func(P)) error {
	m := P(new(M))
	if err := wire.Decode(f.Payload, m); err != nil {
		return err
	}
	deliver(m)
	return nil
}

// deliverReply decodes an answer and passes it to its call.
func deliverReply[M any, P message[M]](l *Link, f wire.Frame, files []*os.File, req func(P) uint64) error {
	m := P(new(M))
	if err := wire.Decode(f.Payload, m); err != nil {
		closeAll(files)
		return err
	}
	l.mu.Lock()
	c, ok := l.pending[req(m)]
	l.mu.Unlock()
	if !ok { // the caller abandoned the request
		closeAll(files)
		return nil
	}
	select {
	case c.answers <- answer{m, files}:
	case <-c.abandoned:
		closeAll(files)
	}
	return nil
}

// closeAll closes files.
func closeAll(files []*os.File) {
	for _, f := range files {
		_ = f.Close()
	}
}

// request sends a request and passes its answers to take.
func (l *Link) request(ctx context.Context, build func(req uint64) wire.Message, take func(answer) (last bool, err error), files ...*os.File) error {
	c, err := l.post(build, files)
	if err != nil {
		return err
	}
	return c.wait(ctx, take)
}

// wait passes every answer to take until take reports the last one.
func (c *call) wait(ctx context.Context, take func(answer) (last bool, err error)) error {
	defer c.abandon()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case a, ok := <-c.answers:
			if !ok {
				return ErrUnanswered
			}
			if last, err := take(a); last || err != nil {
				return err
			}
		}
	}
}

// abandon discards later answers.
func (c *call) abandon() {
	c.link.mu.Lock()
	delete(c.link.pending, c.req)
	c.link.mu.Unlock()
	close(c.abandoned)
}

// post sends a request. The caller waits for its answer, or abandons it.
func (l *Link) post(build func(req uint64) wire.Message, files []*os.File) (*call, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.req++
	c := &call{link: l, req: l.req, answers: make(chan answer), abandoned: make(chan struct{})}
	l.pending[l.req] = c
	if err := l.conn.Write(build(l.req), files...); err != nil {
		delete(l.pending, l.req)
		if errors.Is(err, syscall.EPIPE) {
			err = ErrLost
		}
		return nil, fmt.Errorf("request to the keeper: %w", err)
	}
	return c, nil
}

// send sends a message that has no answer.
func (l *Link) send(m wire.Message) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.conn.Write(m)
}

// doneError returns the error in a Done message.
func doneError(d *wire.Done) error {
	if d.Error == "" {
		return nil
	}
	if err, ok := errorOfCode[d.Code]; ok {
		return fmt.Errorf("%w: %s", err, d.Error)
	}
	return errors.New(d.Error)
}
