package gateway

import (
	"context"

	"github.com/longterm-dev/longterm/session/policy"
)

// Judge is what Gateway is to those who only look up.
type Judge interface {
	// Judge looks up: it waits for nobody and records nothing.
	Judge(Ask) policy.Judgement
}

// Admitter is what Gateway is to those who are about to do something.
type Admitter interface {
	// Admit judges and, where a person is to be asked, records an approval and waits until it is answered
	// or ctx ends. What is refused is an *api.Error: CodeDenied, CodeRejected.
	Admit(context.Context, Ask) (Answer, error)
}
