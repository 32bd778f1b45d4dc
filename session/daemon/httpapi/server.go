//go:build unix

// Package httpapi is the daemon's HTTP API: the table of routes, their handlers and the streams of attached clients.
//
//	connection → caller (socket peer, token or fleet member) → permit → queue by route and client → handler → redact → answer
//
// Handlers translate requests into calls of registry, jobs and authorize, and their results into the types of session/api; they
// make no decisions about sessions. They run on the goroutines of their requests. All JSON answers pass through prepareAnswer,
// which masks secrets. Rows, columns and offsets are 0-based; times are in the machine's zone or RFC 3339.
package httpapi

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"reflect"
	"runtime"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/apitoken"
	"github.com/longterm-dev/longterm/session/audit"
	"github.com/longterm-dev/longterm/session/daemon/authorize"
	"github.com/longterm-dev/longterm/session/daemon/events"
	"github.com/longterm-dev/longterm/session/daemon/fleetmember"
	"github.com/longterm-dev/longterm/session/daemon/inbox"
	"github.com/longterm-dev/longterm/session/daemon/jobs"
	"github.com/longterm-dev/longterm/session/daemon/liveconfig"
	"github.com/longterm-dev/longterm/session/daemon/metrics"
	"github.com/longterm-dev/longterm/session/daemon/pagesocket"
	"github.com/longterm-dev/longterm/session/daemon/ports"
	"github.com/longterm-dev/longterm/session/daemon/push"
	"github.com/longterm-dev/longterm/session/daemon/registry"
	"github.com/longterm-dev/longterm/session/daemon/sessionfiles"
	"github.com/longterm-dev/longterm/session/daemon/sshhosts"
	"github.com/longterm-dev/longterm/session/daemon/subscriptions"
	"github.com/longterm-dev/longterm/session/fairsched"
	"github.com/longterm-dev/longterm/session/hosts"
	"github.com/longterm-dev/longterm/session/identity"
	"github.com/longterm-dev/longterm/session/web"
	"github.com/longterm-dev/longterm/store"
)

// Server is the HTTP half of the daemon.
type Server struct {
	daemon Daemon
	reg    *registry.Registry
	jobs   *jobs.Set
	store  *store.Store
	conf   *liveconfig.Settings
	log    *slog.Logger
	build  string
	gate   *authorize.Gateway
	files  *sessionfiles.Store
	// reports whether a session has processes to end; nil: the registry's answer; set by tests
	hasProcesses func(*registry.Handle) bool

	reveals       revealGrants
	requests      metrics.Requests
	typedLines    typedLineBuffers
	endings       endings
	pictures      pictureKeys
	page          *web.Server
	toFleet       *web.Forwarder // forwards requests to hosts of the fleet
	toSSH         *web.Forwarder // forwards requests to ssh hosts
	pages         pagesocket.Sockets
	inner         http.Handler // handler behind the checks of the TCP and fleet listeners; set by Handler
	blocks        blockConverter
	layoutAnswers events.Answers       // answers of viewers to layout changes
	reads         *fairsched.Scheduler // schedules requests that only read, and are answered at once
	changes       *fairsched.Scheduler // schedules all other requests
}

// Daemon is the part of the daemon that requests about itself need.
type Daemon interface {
	Status(ctx context.Context) api.Status
	Stop(how api.Stop)
	Upgrade(ctx context.Context, path string) error
	Audit() *audit.Log
	Tokens() *apitoken.Store
	// Web returns where the web page is served; OpenWeb and CloseWeb change that, also for later daemons.
	Web() api.Web
	OpenWeb(o api.OpenWeb) (api.Web, error)
	CloseWeb() error
	// ShareByRelay serves a token's session to readers of a relay.
	ShareByRelay(ctx context.Context, t apitoken.Token, at string) (link string, err error)
	// TokensRemoved ends what belongs to removed tokens: shares, and subscriptions to notifications.
	TokensRemoved()
	// Push are the browsers that receive notifications; nil for replicas.
	Push() *push.Set
	Subscriptions() *subscriptions.Set
	Inbox() *inbox.Set
	// Ports keeps the list of sessions' ports; nil for replicas.
	Ports() *ports.Watch
	// Fleet is this machine's part in a fleet.
	Fleet() *fleetmember.Member
	// SSH are the hosts that the configuration names.
	SSH() *sshhosts.Hosts
	// KeeperPIDs are the processes that sessions' processes descend from.
	KeeperPIDs() []int
}

// New returns the API server of a daemon.
func New(d Daemon, h *registry.Registry, j *jobs.Set, st *store.Store, conf *liveconfig.Settings, log *slog.Logger, build string, gate *authorize.Gateway) *Server {
	s := &Server{daemon: d, reg: h, jobs: j, store: st, conf: conf, log: log, build: build, gate: gate, files: sessionfiles.New(h.Dirs()), blocks: blockConverter{lock: make(chan struct{}, 1)}}
	n := runtime.GOMAXPROCS(0)
	s.reads, s.changes = fairsched.New(2*max(2, n)).Crowds(max(1, n/2)), fairsched.New(max(2, n)).Crowds(max(1, n/2))
	s.page, s.toFleet = s.newWebServer(), web.NewForwarder(web.ForwardConfig{
		Dial: s.dialHost, HostsText: "of the fleet", Hint: "`longterm fleet hosts` lists the connected hosts",
	}, writeError, s.log)
	s.toSSH = web.NewForwarder(web.ForwardConfig{
		Dial: s.dialSSH, HostsText: "over ssh", Hint: "see `longterm -H HOST ls`", Header: http.Header{identity.HostHeader: {hosts.ClientLabel()}},
	}, writeError, s.log)
	s.pages.Host, s.pages.Registry, s.pages.Log, s.pages.Build = pageHost{s}, h, log, build
	return s
}

// Handler serves the API: operations with typed requests and answers by huma, which
// checks them and describes them in OpenAPI, and streams by plain handlers.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	s.register(mux)
	for _, form := range []string{".json", ".yaml", "-3.0.json", "-3.0.yaml"} {
		mux.HandleFunc("GET "+openAPIPath+form, s.serveOpenAPI)
	}
	mux.HandleFunc("/", noRoute)
	mux.HandleFunc("GET /metrics", s.serveMetrics) // the path that scrapers use
	s.inner = s.observe(s.restrictToken(s.withLabel(jobs.AfterAnswers(s.schedule(mux)))))
	return s.inner
}

// openAPIPath is the path of the API's description, in several formats.
const openAPIPath = api.Version + "/openapi"

// serveOpenAPI serves the description of the API. It is built on request, because the schemas kept for checking
// requests do not cover answers.
func (s *Server) serveOpenAPI(w http.ResponseWriter, r *http.Request) {
	mux := http.NewServeMux()
	describe(mux, s.build)
	mux.ServeHTTP(w, r)
}

// describe registers the whole API on a mux, for its description.
func describe(mux *http.ServeMux, build string) huma.API {
	s := &Server{}
	a := humago.New(mux, apiConfig(build))
	for i := range Routes {
		if r := &Routes[i]; r.serve == nil {
			r.register(s, a, r.operation())
		}
	}
	return a
}

// servingConfig returns apiConfig without the description.
func servingConfig(build string) huma.Config {
	c := apiConfig(build)
	c.OpenAPIPath = ""
	return c
}

// requestSchemas omits the schemas of answers, which are never checked and use nearly half of the memory.
type requestSchemas struct {
	huma.Registry
	answer reflect.Type // body of the answer of the schemas' route
}

// Schema implements huma.Registry.
func (r *requestSchemas) Schema(t reflect.Type, allowRef bool, hint string) *huma.Schema {
	if t == r.answer {
		return &huma.Schema{}
	}
	return r.Registry.Schema(t, allowRef, hint)
}

func apiConfig(build string) huma.Config {
	c := huma.DefaultConfig("longterm", build)
	c.Info.Description = "Long-lived terminal sessions: start, watch, drive and read them."
	c.Components.SecuritySchemes = map[string]*huma.SecurityScheme{
		"token": {Type: "http", Scheme: "bearer", Description: "of `longterm token new`; over TCP only (http.listen): the daemon's socket needs none"},
	}
	c.Security = []map[string][]string{{"token": {}}, {}}
	c.OpenAPIPath = openAPIPath
	c.DocsPath, c.SchemasPath = "", ""
	c.CreateHooks = nil // no $schema members in answers
	c.Formats = map[string]huma.Format{"application/json": jsonFormat, "json": jsonFormat}
	c.Components.Schemas = huma.NewMapRegistry("#/components/schemas/", schemaName)
	return c
}

// jsonFormat writes JSON like huma, but streams lists that may have a hundred thousand entries.
var jsonFormat = huma.Format{
	Marshal: func(w io.Writer, v any) error {
		if list, ok := v.([]api.FleetSession); ok {
			return api.FleetSessions(list).WriteJSON(w, false)
		}
		return huma.DefaultJSONFormat.Marshal(w, v)
	},
	Unmarshal: huma.DefaultJSONFormat.Unmarshal,
}

// schemaName names a type in the API's description. Types that are parsed from output get a prefix, because other types
// have the same names.
func schemaName(t reflect.Type, hint string) string {
	name := huma.DefaultSchemaNamer(t, hint)
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	switch {
	case strings.Contains(t.PkgPath(), "/session/output/"):
		return "Parsed" + name
	case strings.HasSuffix(t.PkgPath(), "/session/audit"):
		return "Audit" + name
	}
	return name
}

// OpenAPI returns the description of the API in JSON.
func OpenAPI(build string) ([]byte, error) {
	return describe(http.NewServeMux(), build).OpenAPI().MarshalJSON()
}

func init() {
	huma.NewError = func(status int, msg string, errs ...error) huma.StatusError {
		return requestError(status, msg, errs)
	}
}

// requestError converts huma's findings about a request to an API error.
func requestError(status int, msg string, errs []error) *api.Error {
	var parts []string
	for _, err := range errs {
		var detail *huma.ErrorDetail
		switch {
		case err == nil:
		case errors.As(err, &detail): // without the value: it may hold an environment
			parts = append(parts, fmt.Sprintf("%s (%s)", detail.Message, detail.Location))
		default:
			parts = append(parts, err.Error())
		}
	}
	if len(parts) > 0 {
		msg += ": " + strings.Join(parts, "; ")
	}
	if strings.HasPrefix(msg, unreadBody) { // broken off, or not as HTTP has it: no fault of ours
		return api.Errorf(api.CodeInvalid, "%s", msg).WithHint("send the body whole, with its length or in chunks")
	}
	code := api.CodeOfHTTP(status)
	return api.Errorf(code, "%s", msg).WithHint("%s", code.Hint())
}

// unreadBody is huma's message for an unreadable body, which it reports as a server error.
const unreadBody = "cannot read request body"

// maxBody bounds a request: a paste of 16 MiB in base64.
const maxBody = 32 << 20

// noContent is an answer without content.
type noContent struct {
	OK bool `json:"ok"`
}

// SessionPath names a session. It is exported because huma fills embedded fields only then.
type SessionPath struct {
	Session string `path:"session" doc:"id, name, or a unique prefix of either"`
}

// sessionRef returns the given session.
func (p *SessionPath) sessionRef() string { return p.Session }

// sessionBody is a request about a session.
type sessionBody[T any] struct {
	SessionPath
	Body T
}

// noRoute answers requests for unknown routes with an API error.
func noRoute(w http.ResponseWriter, r *http.Request) {
	writeError(w, api.Errorf(api.CodeNotFound, "route %s %s not found", r.Method, r.URL.EscapedPath()).
		WithHint("GET %s/openapi.json lists what there is", api.Version))
}
