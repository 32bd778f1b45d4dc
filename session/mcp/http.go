//go:build unix

package mcp

import (
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/longterm-dev/longterm/session/access"
)

// modernVersion is the first revision of the protocol without sessions.
const modernVersion = "2026-07-28"

// GCPercent is the garbage collector's target for a process that serves many clients: each request is decoded several times
// into buffers of tens of KiB, beside which what lives is little, and a crowd of them would have it collect all the time.
const GCPercent = 400

// Token is who may connect, and what for.
type Token struct {
	Secret string
	Name   string // of the principal; the agent's label
	Level  Level
}

// ParseTokens reads a file of tokens: one a line, TOKEN [LEVEL [NAME]]; # begins a comment.
func ParseTokens(r io.Reader) ([]Token, error) {
	b, err := io.ReadAll(io.LimitReader(r, 1<<20))
	if err != nil {
		return nil, err
	}
	var all []Token
	for i, line := range strings.Split(string(b), "\n") {
		line, _, _ = strings.Cut(line, "#")
		f := strings.Fields(line)
		if len(f) == 0 {
			continue
		}
		t := Token{Secret: f[0], Name: fmt.Sprintf("token-%d", i+1), Level: All}
		switch {
		case len(t.Secret) < 16:
			return nil, fmt.Errorf("line %d: a token has 16 characters at least", i+1)
		case len(f) > 3:
			return nil, fmt.Errorf("line %d: a line is TOKEN [LEVEL [NAME]]", i+1)
		}
		if len(f) > 1 {
			if t.Level, err = ParseLevel(f[1]); err != nil {
				return nil, fmt.Errorf("line %d: %w", i+1, err)
			}
		}
		if len(f) > 2 {
			t.Name = f[2]
		}
		all = append(all, t)
	}
	if len(all) == 0 {
		return nil, errors.New("there is no token in it")
	}
	return all, nil
}

// LoadTokens reads the tokens of a file, which must be its owner's alone.
func LoadTokens(path string) ([]Token, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if st.Mode().Perm()&0o077 != 0 {
		return nil, fmt.Errorf("%s can be read by others (mode %04o); run chmod 600 %s", path, st.Mode().Perm(), path)
	}
	t, err := ParseTokens(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return t, nil
}

// Door is how a server is reached by HTTP.
type Door struct {
	Tokens []Token
	Stored *access.Store // those made with `longterm token new`; nil: none count
	Most   Level         // of those
	access.Source
	Server func(Level) *sdk.Server
	Log    *slog.Logger

	// lanes has requests begun in turn; nil: as they come. Its server gives slots back (calls).
	lanes *lanes
}

// Limits of the HTTP door.
const (
	maxBody     = 8 << 20
	sessionIdle = 2 * time.Hour
)

// Handler is the door: who may not come in is told so before anything of the request is read; what comes in
// goes to the handler of its era, by the header MCP-Protocol-Version. Requests of 2026-07-28 have no
// sessions, those of before have.
func (d *Door) Handler() http.Handler {
	server := func(r *http.Request) *sdk.Server {
		t := auth.TokenInfoFromContext(r.Context())
		if t == nil {
			return nil
		}
		l, _ := t.Extra["level"].(Level)
		return d.Server(l)
	}
	modern := sdk.NewStreamableHTTPHandler(server, &sdk.StreamableHTTPOptions{
		Stateless: true, MaxRequestBodyBytes: maxBody, PropagateRequestCancellation: true, Logger: d.Log, DisableLocalhostProtection: true,
	})
	legacy := sdk.NewStreamableHTTPHandler(server, &sdk.StreamableHTTPOptions{
		MaxRequestBodyBytes: maxBody, SessionTimeout: sessionIdle, EventStore: newReplays(), Logger: d.Log, DisableLocalhostProtection: true,
	})
	eras := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Accel-Buffering", "no")
		if r.ContentLength > maxBody {
			tooLarge(w)
			return
		}
		if r.Header.Get("Mcp-Protocol-Version") >= modernVersion {
			modern.ServeHTTP(w, r)
			return
		}
		if r.Method == http.MethodGet && r.Header.Get("Last-Event-Id") != "" {
			w = &resuming{ResponseWriter: w}
		}
		if r.Method == http.MethodPost {
			w = &mismatched{ResponseWriter: w, said: r.Header.Get("Mcp-Protocol-Version")}
		}
		legacy.ServeHTTP(w, r)
	})
	inTurn := numbered(eras)
	if d.lanes != nil {
		inTurn = d.lanes.handler(whose, inTurn)
	}
	guarded := auth.RequireBearerToken(d.verify, &auth.RequireBearerTokenOptions{AllowMissingExpiration: true, Scopes: nil})(inTurn)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := d.checkSource(r); err != nil {
			http.Error(w, err.Error(), http.StatusForbidden)
			return
		}
		if r.Header.Get("Authorization") == "" {
			w.Header().Set("WWW-Authenticate", `Bearer realm="longterm"`)
			http.Error(w, "no bearer token: each request shows one, as Authorization: Bearer TOKEN; it stands in the file that `longterm mcp --http` named when it started, or `longterm token new` makes one", http.StatusUnauthorized)
			return
		}
		guarded.ServeHTTP(w, r)
	})
}

func tooLarge(w http.ResponseWriter) {
	http.Error(w, fmt.Sprintf("a request has at most %d MiB: have a command write what is longer to a file, and give the file's name", maxBody>>20), http.StatusRequestEntityTooLarge)
}

// resuming is an answer to a client that takes a stream up again. That it cannot is said with what to do: the SDK says only
// that it failed.
type resuming struct {
	http.ResponseWriter
	refused bool
}

const notResumed = "these events are not kept any more (or Last-Event-ID is none of this session's): open the stream without Last-Event-ID; " +
	"nothing that ran is lost: wait and read tell of it, by the ids of jobs and sessions and the last cursor, and a call made again with its id is the same call"

func (w *resuming) WriteHeader(code int) {
	if code != http.StatusBadRequest {
		w.ResponseWriter.WriteHeader(code)
		return
	}
	w.refused = true
	w.Header().Del("Content-Length")
	w.ResponseWriter.WriteHeader(code)
	_, _ = io.WriteString(w.ResponseWriter, notResumed+"\n") // the client may be gone
}

func (w *resuming) Write(b []byte) (int, error) {
	if w.refused { // the SDK's own words
		return len(b), nil
	}
	return w.ResponseWriter.Write(b)
}

// Flush implements http.Flusher: events are to go out one by one.
func (w *resuming) Flush() { _ = http.NewResponseController(w.ResponseWriter).Flush() }

// Unwrap is for http.ResponseController.
func (w *resuming) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// whose is whose request it is, once its token was looked at.
func whose(r *http.Request) string {
	if t := auth.TokenInfoFromContext(r.Context()); t != nil {
		return t.UserID
	}
	return ""
}

// verify looks a token up. All are compared, in constant time.
func (d *Door) verify(_ context.Context, secret string, _ *http.Request) (*auth.TokenInfo, error) {
	sum := sha256.Sum256([]byte(secret))
	var is *Token
	for i := range d.Tokens {
		other := sha256.Sum256([]byte(d.Tokens[i].Secret))
		if subtle.ConstantTimeCompare(sum[:], other[:]) == 1 {
			is = &d.Tokens[i]
		}
	}
	if is != nil {
		return &auth.TokenInfo{UserID: is.Name, Scopes: []string{is.Level.String()}, Extra: map[string]any{"level": is.Level}}, nil
	}
	if d.Stored == nil {
		return nil, fmt.Errorf("%w; it stands in the file that `longterm mcp --http` named when it started", auth.ErrInvalidToken)
	}
	g, err := d.Stored.Verify(secret)
	if err != nil {
		return nil, fmt.Errorf("%w: %w; `longterm token new` makes one", auth.ErrInvalidToken, err)
	}
	level := min(g.Level, d.Most)
	return &auth.TokenInfo{
		UserID: cmp.Or(g.Agent, g.Name), Scopes: []string{level.String()}, Expiration: g.Expires,
		Extra: map[string]any{"level": level, storedToken: g.Name},
	}, nil
}

// storedToken is where a token's information has its name, if it is one of the store's.
const storedToken = "token"

// checkSource refuses requests that a page of somebody else's had a browser make.
func (d *Door) checkSource(r *http.Request) error {
	err := d.Check(r)
	var of *access.SourceError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &of) && of.What == "origin":
		return fmt.Errorf("%w; name the origin with --origin", err)
	}
	return fmt.Errorf("%w; name it with --host", err)
}

// Handler is the server's door, for tokens of a file and of a store (nil: none), whose level is the server's at most.
func (s *Server) Handler(tokens []Token, stored *access.Store, source access.Source) http.Handler {
	d := &Door{
		lanes:  s.lanes,
		Tokens: tokens, Stored: stored, Most: s.o.Level, Source: source, Log: s.o.Log,
		Server: func(l Level) *sdk.Server { return s.levels[l] },
	}
	return d.Handler()
}
