package upstream

import (
	"context"
	"errors"

	"github.com/go-logr/logr"
)

// errStepLimit ends a search that exceeds Solver.MaxSteps.
var errStepLimit = errors.New("step limit exceeded")

// The messages of the allocator that mark a step forward and a step back. They are the only sign
// of backtracking that the library gives; a test holds them to the pinned version.
const (
	pickMessage     = "Allocating one device"
	giveBackMessage = "Device deallocated"
)

// Rejections are the reasons for which a search passes over a device that its selectors let
// through, as far as the library tells: it is silent about taints.
const (
	RejectedInUse      = "inUse"
	RejectedCapacity   = "capacity"
	RejectedCounters   = "counters"
	RejectedGroups     = "compatibilityGroups"
	RejectedOperations = "nodeOperations"
	RejectedMatch      = "matchAttribute"
	RejectedDistinct   = "distinctAttribute"
	RejectedMissing    = "missingAttribute"
)

var rejectionMessages = map[string]string{
	"Device in use":                                               RejectedInUse,
	"Device in use in same claim":                                 RejectedInUse,
	"Device capacity not enough":                                  RejectedCapacity,
	"Insufficient counters":                                       RejectedCounters,
	"Incompatible compatibility groups":                           RejectedGroups,
	"Device requires DRAOptionalNodeOperations but node lacks it": RejectedOperations,
	"Device requires optional node operations, but the optional node operations feature is not enabled": RejectedOperations,
	"Constraint not satisfied, attribute not set":                                                       RejectedMissing,
	"Attribute values have no common elements":                                                          RejectedMatch,
	"String values different":                                                                           RejectedMatch,
	"Int values different":                                                                              RejectedMatch,
	"Bool values different":                                                                             RejectedMatch,
	"Version values different":                                                                          RejectedMatch,
	"Constraint not satisfied, has some duplicated attributes":                                          RejectedDistinct,
}

// workProbe is a logger that listens to the allocator instead of writing anything.
// One Allocate call logs from one goroutine, so the counters need no lock.
type workProbe struct {
	maxSteps   int64
	stop       context.CancelCauseFunc
	picks      int64
	backtracks int64
	rejections map[string]bool
}

var _ logr.LogSink = &workProbe{}

func (p *workProbe) Init(logr.RuntimeInfo) {}

// Enabled is true up to the level of the messages above.
func (p *workProbe) Enabled(level int) bool { return level <= 7 }

func (p *workProbe) Info(_ int, message string, _ ...any) {
	switch message {
	case pickMessage:
		p.picks++
		if p.maxSteps > 0 && p.picks > p.maxSteps {
			p.stop(errStepLimit)
		}
	case giveBackMessage:
		p.backtracks++
	default:
		if kind, ok := rejectionMessages[message]; ok {
			p.rejections[kind] = true
		}
	}
}

func (p *workProbe) Error(error, string, ...any) {}

func (p *workProbe) WithValues(...any) logr.LogSink { return p }

func (p *workProbe) WithName(string) logr.LogSink { return p }
