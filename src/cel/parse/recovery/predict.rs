//! Which alternative ANTLR's adaptive prediction takes, for texts that are in the language and for those that are not.
//!
//! Mirrors `parser_atn_simulator.go` and `prediction_mode.go` (antlr4-go v4.13.1). Stacks of calls are followed one by one instead of
//! as a graph. At first the calls around the decision are unknown ("SLL"), and any place behind a call may follow; if that leaves
//! a conflict, prediction starts again with the calls as they are.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

use super::super::lexer::Token;
use super::grammar::{Edge, Grammar, Kind, StateId};

/// Calls that are to be returned from, the innermost first.
type Stack = Option<Rc<Frame>>;

#[derive(Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Frame {
    follow: StateId,
    below: Stack,
}

/// One way in which the text could be read.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Config {
    state: StateId,
    alternative: u8,
    stack: Stack,
    /// Kept by the filter for precedences.
    kept: bool,
    /// Whether the rule of the decision is finished on this way.
    outside: bool,
}

type Configs = BTreeSet<Config>;

/// Around the decision.
pub(super) struct Surroundings<'p> {
    /// Where the rules that are open go on, the outermost first.
    pub(super) follows: &'p dyn Fn() -> Vec<StateId>,
    /// The precedence of the innermost rule that has some.
    pub(super) precedence: u8,
}

/// Why there is no prediction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Failure {
    /// No alternative goes on with the token at this distance.
    NoViableAlternative { ahead: usize },
    /// The text is too involved to go on.
    TooMuch,
}

/// A step of prediction without known surroundings.
struct Known {
    configs: Configs,
    outcome: Outcome,
    next: HashMap<Token, Option<usize>>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Undecided,
    Unique(u8),
    Conflict,
}

/// Predicts, and remembers how.
pub(super) struct Predictor {
    grammar: &'static Grammar,
    known: Vec<Known>,
    starts: HashMap<(StateId, u8), usize>,
    /// Steps left.
    budget: usize,
}

/// Steps that predictions for one text may take.
const BUDGET: usize = 500_000;

impl Predictor {
    pub(super) fn new(grammar: &'static Grammar) -> Self {
        Self {
            grammar,
            known: Vec::new(),
            starts: HashMap::new(),
            budget: BUDGET,
        }
    }

    /// The alternative, from one, that is taken at `decision`; `ahead` tells the tokens from the current one on.
    pub(super) fn predict(
        &mut self,
        decision: StateId,
        surroundings: &Surroundings<'_>,
        mut ahead: impl FnMut(usize) -> Token,
    ) -> Result<u8, Failure> {
        let guarded = self.is_guarded(decision);
        let precedence = if self.grammar.state(decision).rule.has_precedences() {
            surroundings.precedence
        } else {
            0
        };
        let mut current = match self.starts.get(&(decision, precedence)) {
            Some(known) => *known,
            None => {
                let configs = self.start(decision, guarded, precedence, &None, false)?;
                let known = self.remember(configs, Outcome::Undecided);
                self.starts.insert((decision, precedence), known);
                known
            }
        };
        let mut distance = 0;
        loop {
            let token = ahead(distance);
            let next = match self.known[current].next.get(&token) {
                Some(next) => *next,
                None => {
                    let configs = std::mem::take(&mut self.known[current].configs);
                    let reached = self.reach(&configs, token, false, decision);
                    self.known[current].configs = configs;
                    let next = reached?.map(|configs| {
                        let outcome = self.outcome(&configs);
                        self.remember(configs, outcome)
                    });
                    self.known[current].next.insert(token, next);
                    next
                }
            };
            let Some(next) = next else {
                return self.finished(&self.known[current].configs, distance);
            };
            match self.known[next].outcome {
                Outcome::Unique(alternative) => return Ok(alternative),
                Outcome::Conflict => return self.predict_with_calls(decision, guarded, surroundings, ahead),
                Outcome::Undecided => {}
            }
            current = next;
            if token != Token::End {
                distance += 1;
            }
        }
    }

    /// Prediction with the calls as they are.
    fn predict_with_calls(
        &mut self,
        decision: StateId,
        guarded: bool,
        surroundings: &Surroundings<'_>,
        mut ahead: impl FnMut(usize) -> Token,
    ) -> Result<u8, Failure> {
        let stack = (surroundings.follows)()
            .into_iter()
            .fold(None, |below, follow| Some(Rc::new(Frame { follow, below })));
        let mut configs = self.start(decision, guarded, surroundings.precedence, &stack, true)?;
        let mut distance = 0;
        loop {
            let token = ahead(distance);
            let Some(reached) = self.reach(&configs, token, true, decision)? else {
                return self.finished(&configs, distance);
            };
            if let Some(alternative) = unique_alternative(&reached).or_else(|| single_viable(&reached)) {
                return Ok(alternative);
            }
            configs = reached;
            if token != Token::End {
                distance += 1;
            }
        }
    }

    fn is_guarded(&self, decision: StateId) -> bool {
        let state = self.grammar.state(decision);
        state.kind == Kind::LoopEntry && state.rule.has_precedences()
    }

    fn remember(&mut self, configs: Configs, outcome: Outcome) -> usize {
        self.known.push(Known {
            configs,
            outcome,
            next: HashMap::new(),
        });
        self.known.len() - 1
    }

    /// The first alternative that had finished the rule, before the token at `ahead` fitted nothing.
    fn finished(&self, configs: &Configs, ahead: usize) -> Result<u8, Failure> {
        configs
            .iter()
            .filter(|config| {
                config.outside
                    || (config.stack.is_none() && self.grammar.state(config.state).kind == Kind::RuleStop)
            })
            .map(|config| config.alternative)
            .min()
            .ok_or(Failure::NoViableAlternative { ahead })
    }

    fn start(
        &mut self,
        decision: StateId,
        guarded: bool,
        precedence: u8,
        stack: &Stack,
        full: bool,
    ) -> Result<Configs, Failure> {
        let mut closure = Closure::new(self.grammar, full, decision, Some(precedence), &mut self.budget);
        for (position, edge) in self.grammar.state(decision).edges.iter().enumerate() {
            if let Edge::Epsilon(to) = edge {
                let config = Config {
                    state: *to,
                    alternative: position as u8 + 1,
                    stack: stack.clone(),
                    kept: false,
                    outside: false,
                };
                closure.follow(config, 0)?;
            }
        }
        let found = closure.finish();
        if !guarded {
            return Ok(found);
        }
        // What the loop can do itself is not left to a loop around it.
        let own: BTreeSet<_> = found
            .iter()
            .filter(|config| config.alternative == 1)
            .map(|config| (config.state, config.stack.clone()))
            .collect();
        Ok(found
            .into_iter()
            .filter(|config| {
                config.alternative == 1 || config.kept || !own.contains(&(config.state, config.stack.clone()))
            })
            .collect())
    }

    /// Where `token` leads to.
    fn reach(
        &mut self,
        configs: &Configs,
        token: Token,
        full: bool,
        decision: StateId,
    ) -> Result<Option<Configs>, Failure> {
        let mut moved = Configs::new();
        let mut stopped = Configs::new();
        for config in configs {
            let state = self.grammar.state(config.state);
            if state.kind == Kind::RuleStop {
                if full || token == Token::End {
                    stopped.insert(config.clone());
                }
                continue;
            }
            for edge in &state.edges {
                if let Edge::Match(set, to) = edge
                    && set.contains(token)
                {
                    moved.insert(Config {
                        state: *to,
                        ..config.clone()
                    });
                }
            }
        }
        let settled = stopped.is_empty() && token != Token::End && unique_alternative(&moved).is_some();
        let mut reached = if settled {
            moved
        } else {
            let mut closure = Closure::new(self.grammar, full, decision, None, &mut self.budget);
            closure.at_end = token == Token::End;
            for config in moved {
                closure.follow(config, 0)?;
            }
            closure.finish()
        };
        if token == Token::End {
            reached = self.stopped_only(reached);
        }
        let mut kinds = reached.iter().map(|config| self.grammar.state(config.state).kind);
        if !full || !kinds.any(|kind| kind == Kind::RuleStop) {
            reached.extend(stopped);
        }
        Ok(if reached.is_empty() { None } else { Some(reached) })
    }

    /// At the end of the input only what is at the end of a rule goes on.
    fn stopped_only(&self, configs: Configs) -> Configs {
        configs
            .into_iter()
            .filter(|config| self.grammar.state(config.state).kind == Kind::RuleStop)
            .collect()
    }

    fn outcome(&self, configs: &Configs) -> Outcome {
        if let Some(alternative) = unique_alternative(configs) {
            return Outcome::Unique(alternative);
        }
        let all_stopped = configs
            .iter()
            .all(|config| self.grammar.state(config.state).kind == Kind::RuleStop);
        let conflict = alternatives_by_place(configs)
            .values()
            .any(|alternatives| alternatives.len() > 1);
        let mut by_state: BTreeMap<StateId, BTreeSet<u8>> = BTreeMap::new();
        for config in configs {
            by_state
                .entry(config.state)
                .or_default()
                .insert(config.alternative);
        }
        let one_alone = by_state.values().any(|alternatives| alternatives.len() == 1);
        if all_stopped || (conflict && !one_alone) {
            Outcome::Conflict
        } else {
            Outcome::Undecided
        }
    }
}

fn unique_alternative(configs: &Configs) -> Option<u8> {
    let first = configs.first()?.alternative;
    configs
        .iter()
        .all(|config| config.alternative == first)
        .then_some(first)
}

/// The alternatives for each state and set of stacks.
fn alternatives_by_place(configs: &Configs) -> BTreeMap<(StateId, Vec<Stack>), BTreeSet<u8>> {
    let mut stacks: BTreeMap<(StateId, u8), BTreeSet<Stack>> = BTreeMap::new();
    for config in configs {
        stacks
            .entry((config.state, config.alternative))
            .or_default()
            .insert(config.stack.clone());
    }
    let mut alternatives: BTreeMap<(StateId, Vec<Stack>), BTreeSet<u8>> = BTreeMap::new();
    for ((state, alternative), stacks) in stacks {
        alternatives
            .entry((state, stacks.into_iter().collect()))
            .or_default()
            .insert(alternative);
    }
    alternatives
}

/// The alternative that all conflicts resolve to, if that is one.
fn single_viable(configs: &Configs) -> Option<u8> {
    let firsts: BTreeSet<u8> = alternatives_by_place(configs)
        .values()
        .filter_map(|alternatives| alternatives.first().copied())
        .collect();
    match firsts.iter().collect::<Vec<_>>().as_slice() {
        [one] => Some(**one),
        _ => None,
    }
}

/// Follows what needs no token.
struct Closure<'p> {
    grammar: &'static Grammar,
    /// Whether stacks are complete.
    full: bool,
    decision: StateId,
    /// Precedences are looked at if they are those of the decision's own rule.
    precedence: Option<u8>,
    at_end: bool,
    found: Configs,
    seen: BTreeSet<(Config, bool)>,
    budget: &'p mut usize,
}

impl<'p> Closure<'p> {
    fn new(
        grammar: &'static Grammar,
        full: bool,
        decision: StateId,
        precedence: Option<u8>,
        budget: &'p mut usize,
    ) -> Self {
        Self {
            grammar,
            full,
            decision,
            precedence,
            at_end: false,
            found: Configs::new(),
            seen: BTreeSet::new(),
            budget,
        }
    }

    /// `depth` counts the rules entered since the decision; it is negative behind the decision's own rule.
    fn follow(&mut self, config: Config, depth: i32) -> Result<(), Failure> {
        *self.budget = self.budget.checked_sub(1).ok_or(Failure::TooMuch)?;
        if !self.seen.insert((config.clone(), depth == 0)) {
            return Ok(());
        }
        let state = self.grammar.state(config.state);
        if state.kind == Kind::RuleStop {
            if let Some(frame) = &config.stack {
                let next = Config {
                    state: frame.follow,
                    stack: frame.below.clone(),
                    ..config.clone()
                };
                return self.follow(next, depth - 1);
            }
            if self.full || state.edges.is_empty() {
                self.found.insert(config);
                return Ok(());
            }
        }
        let consumes = state.edges.iter().any(|edge| matches!(edge, Edge::Match(..)));
        if consumes {
            self.found.insert(config.clone());
        }
        let drops_first = self.can_drop_entry(&config);
        for (position, edge) in state.edges.iter().enumerate() {
            if position == 0 && drops_first {
                continue;
            }
            match edge {
                Edge::Epsilon(to) => self.follow(
                    Config {
                        state: *to,
                        ..config.clone()
                    },
                    depth,
                )?,
                Edge::Return { to, whole } => {
                    let guarded = self.grammar.state(self.decision);
                    let kept = *whole
                        && guarded.kind == Kind::LoopEntry
                        && guarded.rule.has_precedences()
                        && guarded.rule == state.rule;
                    let next = Config {
                        state: *to,
                        kept: config.kept || kept,
                        outside: true,
                        ..config.clone()
                    };
                    self.follow(next, depth - 1)?;
                }
                Edge::Match(set, to) => {
                    if self.at_end && set.contains(Token::End) {
                        self.follow(
                            Config {
                                state: *to,
                                ..config.clone()
                            },
                            depth,
                        )?;
                    }
                }
                Edge::Call { rule, follow, .. } => {
                    let stack = Some(Rc::new(Frame {
                        follow: *follow,
                        below: config.stack.clone(),
                    }));
                    let next = Config {
                        state: self.grammar.start(*rule),
                        stack,
                        ..config.clone()
                    };
                    self.follow(next, if depth >= 0 { depth + 1 } else { depth })?;
                }
                Edge::Precedence(own, to) => {
                    let refused = depth == 0 && self.precedence.is_some_and(|precedence| *own < precedence);
                    if !refused {
                        self.follow(
                            Config {
                                state: *to,
                                ..config.clone()
                            },
                            depth,
                        )?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Whether the entry of a loop need not be considered because a loop of the same rule follows. Mirrors
    /// `canDropLoopEntryEdgeInLeftRecursiveRule`.
    fn can_drop_entry(&self, config: &Config) -> bool {
        let state = self.grammar.state(config.state);
        let (Kind::LoopEntry, Some(frame), Some(block_end)) = (state.kind, &config.stack, state.block_end)
        else {
            return false;
        };
        state.rule.has_precedences() && frame.follow == block_end
    }

    /// What was found. Where calls are unknown, a place with any calls around it stands for those with known ones.
    fn finish(self) -> Configs {
        if self.full {
            return self.found;
        }
        let found = self.found;
        found
            .iter()
            .filter(|config| {
                let mut stack = &config.stack;
                let mut depth = 0;
                while let Some(frame) = stack {
                    let shorter = Config {
                        stack: prefix(&config.stack, depth),
                        ..Config::clone(config)
                    };
                    let variants = [(false, false), (false, true), (true, false), (true, true)];
                    if variants.into_iter().any(|(kept, outside)| {
                        found.contains(&Config {
                            kept,
                            outside,
                            ..shorter.clone()
                        })
                    }) {
                        return false;
                    }
                    stack = &frame.below;
                    depth += 1;
                }
                true
            })
            .cloned()
            .collect()
    }
}

/// The innermost `depth` calls.
fn prefix(stack: &Stack, depth: usize) -> Stack {
    match stack {
        Some(frame) if depth > 0 => Some(Rc::new(Frame {
            follow: frame.follow,
            below: prefix(&frame.below, depth - 1),
        })),
        _ => None,
    }
}
