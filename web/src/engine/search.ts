// The tree search of Tengen with a network: the kernels walk the tree, the network evaluates leaves.

import { PASS, type Board, type Index } from "./board";
import { deadStones, score } from "./count";
import { LAYOUT, SEARCH, type Address } from "./kernels";
import type { Engine } from "./memory";
import type { Evaluation, Network } from "./network";

/** A move that was looked at; all values are Black's. */
export interface Candidate {
  move: Index;
  visits: number;
  prior: number;
  utility: number;
  winrate: number;
  score: number;
  spread: number;
  /** The line of play that was looked at most, with the visits of its moves. */
  line: Index[];
  lineVisits: number[];
}

/** What a search says of its position, for Black; `network` is what the network says without it. */
export interface Report {
  visits: number;
  winrate: number;
  score: number;
  mean: number;
  ownership: Float64Array;
  candidates: Candidate[];
  network: Evaluation;
}

interface Options {
  /** Without it, a pass is not looked at. */
  mayPass?: boolean;
  /** The share of the score in what a move is worth. */
  share?: number;
}

const LINE = 24; // longest line in a report

type Terms = [utility: number, win: number, score: number, square: number];

export class Search {
  private readonly tree: Tree;
  private readonly centre: number;
  private readonly reach: number;
  private readonly share: number;
  private readonly view: Evaluation;
  /** The likeliest move of the position, and all moves that may be looked at, likeliest first. */
  readonly first: Index;
  readonly choices: Index[];

  /** Evaluate a position, and make room for a search of at most `most` visits. */
  constructor(
    private readonly network: Network,
    private readonly board: Board,
    /** Points that White receives: komi, and compensation for handicap stones. */
    private readonly bonus: number,
    private readonly most: number,
    { mayPass = true, share = SEARCH.SCORE_SHARE }: Options = {},
  ) {
    this.share = share;
    const points = board.rows * board.cols;
    this.tree = new Tree(board.engine, points, most + SEARCH.BATCH + 2);
    const [view] = network.evaluate([board], bonus) as [Evaluation];
    this.view = view;
    this.centre = SEARCH.CENTRE * view.score;
    this.reach = Math.sqrt(points);
    this.tree.begin(board.turn === LAYOUT.BLACK ? 1 : -1);
    const path = this.tree.descend();
    const likely = likelyMoves(board, view.best, points);
    const found = withoutMirrorImages(board, ...(mayPass ? likely : withoutPass(...likely)));
    this.first = board.index(found[0][0] ?? LAYOUT.PASS);
    this.choices = found[0].map((move) => board.index(move));
    this.tree.store(0, this.evaluated(view), view.ownership, ...found, false);
    this.tree.backUp(path);
  }

  get visits(): number {
    return this.tree.visitsOf(0);
  }

  /** Search until so many visits; `stop` is asked after each batch. */
  run(visits: number, stop: () => boolean = () => false): void {
    const goal = Math.min(visits, this.most);
    while (this.visits < goal && !stop()) this.expand(this.batch(goal));
  }

  /** What was found so far; the moves that were visited come with most visits first. */
  get report(): Report {
    const { tree, board, view } = this;
    const index = (node: number) => board.index(tree.moveOf(node));
    const candidates = tree.children(0).map(({ node, prior }): Candidate => {
      const [utility, winrate, score, square] = tree.meansOf(node);
      const line = tree.line(node, LINE);
      return {
        move: index(node), visits: tree.visitsOf(node), prior, utility, winrate, score,
        spread: Math.sqrt(Math.max(square - score ** 2, 0)), line: line.map(index),
        lineVisits: line.map((one) => tree.visitsOf(one)),
      }; // prettier-ignore
    });
    const best = candidates[0];
    // The best score for the side to move among the moves visited nearly as often.
    const often = candidates.filter(({ visits }) => visits >= SEARCH.TRUSTED_SHARE * best!.visits);
    const scores = often.map(({ score }) => score);
    const score = board.turn === LAYOUT.BLACK ? Math.max(...scores) : Math.min(...scores);
    return {
      visits: this.visits, candidates, network: view, ownership: tree.owners(), mean: tree.meansOf(0)[1],
      winrate: best?.winrate ?? view.winProbability, score: best ? score : view.score,
    }; // prettier-ignore
  }

  /** Return the memory of the search, which must not be used any more. */
  close(): void {
    this.tree.close();
  }

  private batch(goal: number): number {
    const { rows, cols } = this.board;
    const usual = rows === cols && SEARCH.LARGE_BATCH_SIZES.some((size) => size === rows) ? SEARCH.BATCH : SEARCH.SMALL_BATCH;
    return Math.min(usual, 1 + Math.floor(this.visits / SEARCH.VISITS_PER_LEAF), goal - this.visits);
  }

  private expand(room: number): void {
    const { tree } = this;
    const paths: number[][] = [];
    const boards: Board[] = [];
    for (let i = 0; i < room; i++) {
      const path = tree.descend();
      const leaf = path[path.length - 1]!;
      if (tree.isOver(leaf)) {
        tree.backUp(path);
        continue;
      }
      if (tree.waits(leaf) > 1) {
        tree.cancel(path);
        break;
      }
      const board = this.board.copy();
      for (const node of path.slice(1)) board.push(board.index(tree.moveOf(node)));
      paths.push(path);
      boards.push(board);
    }
    if (!paths.length) return;
    const views = this.network.evaluate(boards, this.bonus);
    views.forEach((view, i) => {
      const [path, board] = [paths[i]!, boards[i]!];
      const leaf = path[path.length - 1]!;
      if (board.isOver) tree.store(leaf, this.ended(board, view), view.ownership, [], [], true);
      else tree.store(leaf, this.evaluated(view), view.ownership, ...likelyMoves(board, view.best, SEARCH.WIDTH), false);
      tree.backUp(path);
      board.close();
    });
  }

  private outcome(win: number, lead: number, spread: number): Terms {
    const margin = (2 / Math.PI) * Math.atan((lead - this.centre) / this.reach);
    const utility = (1 - this.share) * (2 * win - 1) + this.share * margin;
    return [utility, win, lead, lead ** 2 + spread ** 2];
  }

  private evaluated(view: Evaluation): Terms {
    return this.outcome(view.winProbability, view.score, view.spread);
  }

  /** Return the terms of a game that is over. */
  private ended(board: Board, view: Evaluation): Terms {
    const counted = score(board, deadStones(board, view.ownership), this.bonus);
    const final = board.rules.scoring === "territory" ? counted : board.areaScore - this.bonus;
    const [utility, win] = this.outcome((Math.sign(final) + 1) / 2, final, 0);
    return [utility, win, counted, counted ** 2];
  }
}

/** Return the likeliest moves (as kernels number points) that fill no own eye, and the pass. */
export function likelyMoves(board: Board, priors: Float64Array, width: number): [number[], number[]] {
  const { engine } = board;
  const points = board.rows * board.cols;
  const order = [...priors.keys()].sort((a, b) => priors[b]! - priors[a]! || a - b).slice(0, width + 1);
  const bytes = (3 * (width + 2) + points + 1) * 8;
  const start = engine.take(bytes);
  const [given, moves, chances] = [start, start + (width + 2) * 8, start + 2 * (width + 2) * 8];
  const all = start + 3 * (width + 2) * 8;
  engine.longs(given, order.length).set(order.map(BigInt));
  engine.doubles(all, points + 1).set(priors);
  const count = engine.kernels.keep_likely(board.state, board.points, given, order.length, all, points, moves, chances);
  const found = Array.from(engine.longs(moves, count), Number);
  const shares = Array.from(engine.doubles(chances, count));
  engine.give(start, bytes);
  const sum = Math.max(shares.reduce((a, b) => a + b, 0), 1e-300);
  return [found, shares.map((share) => share / sum)];
}

/** Leave the pass out, unless there is nothing else. */
function withoutPass(moves: number[], priors: number[]): [number[], number[]] {
  if (moves.length < 2) return [moves, priors];
  const kept = moves.map((_, i) => i).filter((i) => moves[i] !== LAYOUT.PASS);
  const sum = Math.max(kept.reduce((all, i) => all + priors[i]!, 0), 1e-300);
  return [kept.map((i) => moves[i]!), kept.map((i) => priors[i]! / sum)];
}

/** Merge moves that are equal by symmetry into the one nearest to the upper right. */
function withoutMirrorImages(board: Board, moves: number[], priors: number[]): [number[], number[]] {
  const { rows, cols, grid } = board;
  const kept: ((index: Index) => Index)[] = [];
  for (let k = 0; k < (rows === cols ? 8 : 4); k++) {
    const image = (index: Index) => {
      if (index === PASS) return PASS;
      let [row, col] = [Math.floor(index / cols), index % cols];
      if (k & 4) [row, col] = [col, row];
      if (k & 1) row = rows - 1 - row;
      if (k & 2) col = cols - 1 - col;
      return row * cols + col;
    };
    if (grid.every((colour, i) => grid[image(i)] === colour)) kept.push(image);
  }
  if (kept.length === 1) return [moves, priors];
  const rank = (index: Index) => {
    const place = index === PASS ? rows * cols : index;
    return (Math.floor(place / cols) - (place % cols)) * cols - Math.floor(place / cols);
  };
  const groups = new Map<Index, { orbit: Index; move: number; place: Index; prior: number }>();
  moves.forEach((move, i) => {
    const place = board.index(move);
    const images = kept.map((image) => image(place));
    const orbit = images.reduce((best, one) => (rank(one) < rank(best) ? one : best));
    const group = groups.get(orbit);
    if (!group) groups.set(orbit, { orbit, move, place, prior: priors[i]! });
    else {
      if (rank(place) < rank(group.place)) [group.move, group.place] = [move, place];
      group.prior += priors[i]!;
    }
  });
  const last = (index: Index) => (index === PASS ? rows * cols : index);
  const sorted = [...groups.values()].sort((a, b) => b.prior - a.prior || last(a.orbit) - last(b.orbit));
  return [sorted.map((group) => group.move), sorted.map((group) => group.prior)];
}

const NODE_ARRAYS = {
  evaluated: 1, over: 1, turn: 1, first: 4, count: 4, opened: 4, explored: 4, visits: 8, waiting: 4,
  sums: 32, parent: 4, move: 4, own: 32, path: 4,
}; // prettier-ignore
type NodeArrays = Record<keyof typeof NODE_ARRAYS, Address>;

/** The arrays of a tree, which kernels read and write; see `players/network_tree.py`. */
class Tree {
  private readonly taken: [Address, number][] = [];
  private readonly at = {} as NodeArrays;
  private readonly edges: number;
  private readonly edgeMove: Address;
  private readonly edgePrior: Address;
  private readonly edgeChild: Address;
  private readonly ownership: Address;
  private readonly scratch: Address;
  private used = 0;
  private usedEdges = 0;

  constructor(
    private readonly engine: Engine,
    private readonly points: number,
    private readonly nodes: number,
  ) {
    this.edges = points + 2 + nodes * (SEARCH.WIDTH + 2);
    for (const [name, bytes] of Object.entries(NODE_ARRAYS)) this.at[name as keyof NodeArrays] = this.take(nodes * bytes);
    this.edgeMove = this.take(this.edges * 4);
    this.edgePrior = this.take(this.edges * 4);
    this.edgeChild = this.take(this.edges * 4);
    this.ownership = this.take(nodes * points);
    this.scratch = this.take((4 + 3 * points + 4) * 8);
  }

  close(): void {
    for (const [address, bytes] of this.taken) this.engine.give(address, bytes);
  }

  /** Make the root; `turn` is 1 if Black moves there, -1 for White. */
  begin(turn: number): void {
    this.used = 1;
    this.engine.bytes(this.at.turn, 1)[0] = turn;
    this.engine.ints(this.at.parent, 1)[0] = -1;
  }

  descend(): number[] {
    const { engine, at, nodes } = this;
    const length = engine.kernels.descend(
      at.evaluated, at.over, at.turn, at.first, at.count, at.opened, at.explored, at.visits, at.waiting, at.sums,
      at.parent, at.move, nodes, this.edgeMove, this.edgePrior, this.edgeChild, this.edges, this.used, at.path,
    ); // prettier-ignore
    const path = Array.from(engine.ints(at.path, length));
    if (path[length - 1] === this.used) this.used++;
    return path;
  }

  store(node: number, terms: Terms, owners: Float64Array, moves: number[], priors: number[], over: boolean): void {
    const { engine, at, points, scratch } = this;
    const [ownersAt, movesAt, priorsAt] = [4, 4 + points, 5 + 2 * points].map((n) => scratch + n * 8) as [number, number, number];
    engine.doubles(scratch, 4).set(terms);
    engine.doubles(ownersAt, points).set(owners);
    engine.longs(movesAt, moves.length).set(moves.map(BigInt));
    engine.doubles(priorsAt, priors.length).set(priors);
    engine.kernels.store_evaluation(
      node, Number(over), scratch, ownersAt, points, movesAt, priorsAt, moves.length, this.usedEdges, at.first,
      at.count, at.own, this.ownership, at.evaluated, at.over, this.nodes, this.edgeMove, this.edgePrior,
      this.edgeChild, this.edges,
    ); // prettier-ignore
    this.usedEdges += moves.length;
  }

  backUp(path: number[]): void {
    const { engine, at } = this;
    engine.ints(at.path, path.length).set(path);
    engine.kernels.back_up(at.path, path.length, at.waiting, at.visits, at.sums, at.own, this.nodes);
  }

  cancel(path: number[]): void {
    const waiting = this.engine.ints(this.at.waiting, this.nodes);
    for (const node of path) waiting[node]!--;
  }

  isOver(node: number): boolean {
    return this.engine.bytes(this.at.over + node, 1)[0] === 1;
  }

  waits(node: number): number {
    return this.engine.ints(this.at.waiting + 4 * node, 1)[0]!;
  }

  moveOf(node: number): number {
    return this.engine.ints(this.at.move + 4 * node, 1)[0]!;
  }

  visitsOf(node: number): number {
    return Number(this.engine.longs(this.at.visits + 8 * node, 1)[0]);
  }

  meansOf(node: number): Terms {
    const visits = Math.max(this.visitsOf(node), 1);
    return Array.from(this.engine.doubles(this.at.sums + 32 * node, 4), (sum) => sum / visits) as Terms;
  }

  /** Return the visited children of a node with their priors, most visits first, then likeliest. */
  children(node: number): { node: number; prior: number }[] {
    const { engine, at } = this;
    const first = engine.ints(at.first + 4 * node, 1)[0]!;
    const opened = engine.ints(at.opened + 4 * node, 1)[0]!;
    const priors = engine.floats(this.edgePrior + 4 * first, opened);
    const found = Array.from(engine.ints(this.edgeChild + 4 * first, opened), (child, i) => ({ node: child, prior: priors[i]! }));
    return found
      .filter((child) => this.visitsOf(child.node) > 0)
      .sort((a, b) => this.visitsOf(b.node) - this.visitsOf(a.node));
  }

  /** Return the nodes of the most visited line that begins with a node. */
  line(node: number, length: number): number[] {
    const found = [node];
    for (let next; found.length < length && (next = this.children(found[found.length - 1]!)[0]); ) found.push(next.node);
    return found;
  }

  /** Return the mean ownership over all positions that were looked at. */
  owners(): Float64Array {
    const sums = new Float64Array(this.points);
    let seen = 0;
    for (let node = 0; node < this.used; node++) {
      if (!this.engine.bytes(this.at.evaluated + node, 1)[0] || !this.visitsOf(node)) continue;
      const owned = new Int8Array(this.engine.kernels.memory.buffer, this.ownership + node * this.points, this.points);
      owned.forEach((value, i) => (sums[i]! += value));
      seen++;
    }
    return sums.map((sum) => sum / (SEARCH.OWNERSHIP_SCALE * Math.max(seen, 1)));
  }

  private take(bytes: number): Address {
    const found = this.engine.take(bytes);
    this.engine.bytes(found, bytes).fill(0);
    this.taken.push([found, bytes]);
    return found;
  }
}
