package web

import "net/http"

// contentPolicy lets the page load its own files and connect to its own origin only, and forbids framing. Scripts and styles
// are files, and output is inserted as text. Trusted Types make the browser reject text as HTML even if the page had that
// bug.
const contentPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; " +
	"font-src 'self'; manifest-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; " +
	"require-trusted-types-for 'script'; trusted-types longterm"

// securityHeaders are the headers of every response.
var securityHeaders = [][2]string{
	{"Content-Security-Policy", contentPolicy},
	{"Referrer-Policy", "no-referrer"},
	{"X-Content-Type-Options", "nosniff"},
	{"X-Frame-Options", "DENY"}, // for browsers without frame-ancestors
	{"Cross-Origin-Opener-Policy", "same-origin"},
	{"Cross-Origin-Resource-Policy", "same-origin"},
	{"Permissions-Policy", "accelerometer=(), camera=(), display-capture=(), geolocation=(), gyroscope=(), " +
		"microphone=(), payment=(), usb=(), clipboard-read=(self), clipboard-write=(self), fullscreen=(self)"},
}

// setSecurityHeaders sets the security headers of a response.
func setSecurityHeaders(h http.Header) {
	for _, g := range securityHeaders {
		h.Set(g[0], g[1])
	}
}
