#include "codegen/site/layers.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "lang/format.h"

namespace sy::codegen::site {
namespace {

constexpr double kBetweenLayers = 28, kBetweenNodes = 12;

// A node of the graph, or a place that a long edge goes through.
struct LayerPlace {
  int node = -1;
  double across = 0;  // its extent within its layer
  double centre = 0;
  std::vector<std::size_t> before, after;
};

// Layers go along one axis, the nodes of a layer across it.
class LayerPlacer {
 public:
  LayerPlacer(LayeredGraph& graph, bool downwards)
      : graph_(graph), downwards_(downwards) {}

  void run() {
    graph_.downwards = downwards_;
    assign_layers();
    make_places();
    for (int k = 0; k < 6; ++k) sort(k % 2 == 0);
    pack();
    for (int k = 0; k < 8; ++k) align(k % 2 == 0);
    write();
  }

 private:
  double along(const LayeredGraph::Node& n) const {
    return downwards_ ? n.height : n.width;
  }
  double across(const LayeredGraph::Node& n) const {
    return downwards_ ? n.width : n.height;
  }
  double gap() const { return downwards_ ? 16 : kBetweenNodes; }

  void assign_layers() {
    for (LayeredGraph::Node& n : graph_.nodes) n.layer = 0;
    for (std::size_t v = 0; v < graph_.nodes.size(); ++v) {
      for (const LayeredGraph::Edge& e : graph_.edges) {
        if (e.to == v) {
          graph_.nodes[v].layer =
              std::max(graph_.nodes[v].layer, graph_.nodes[e.from].layer + 1);
        }
      }
    }
    // A node without an edge to it stands right before the first it leads to.
    for (std::size_t v = 0; v < graph_.nodes.size(); ++v) {
      int first = 1 << 20;
      bool is_start = true;
      for (const LayeredGraph::Edge& e : graph_.edges) {
        if (e.to == v) is_start = false;
        if (e.from == v) first = std::min(first, graph_.nodes[e.to].layer);
      }
      if (is_start && first < (1 << 20)) graph_.nodes[v].layer = first - 1;
    }
  }

  std::size_t add_place(int layer, int node, double across) {
    const auto l = static_cast<std::size_t>(layer);
    if (layers_.size() <= l) layers_.resize(l + 1);
    places_.push_back({node, across, 0, {}, {}});
    layers_[l].push_back(places_.size() - 1);
    return places_.size() - 1;
  }

  void connect(std::size_t a, std::size_t b) {
    places_[a].after.push_back(b);
    places_[b].before.push_back(a);
  }

  void make_places() {
    for (std::size_t v = 0; v < graph_.nodes.size(); ++v) {
      add_place(graph_.nodes[v].layer, static_cast<int>(v),
                across(graph_.nodes[v]));
    }
    for (const LayeredGraph::Edge& e : graph_.edges) {
      std::vector<std::size_t> chain = {e.from};
      for (int l = graph_.nodes[e.from].layer + 1; l < graph_.nodes[e.to].layer;
           ++l) {
        chain.push_back(add_place(l, -1, 2));
        connect(chain[chain.size() - 2], chain.back());
      }
      connect(chain.back(), e.to);
      chain.push_back(e.to);
      chains_.push_back(std::move(chain));
    }
  }

  // Orders each layer by the places of its neighbours, so that fewer lines
  // cross.
  void sort(bool forwards) {
    std::vector<double> rank(places_.size());
    for (const auto& layer : layers_) {
      for (std::size_t i = 0; i < layer.size(); ++i) {
        rank[layer[i]] =
            static_cast<double>(i) - static_cast<double>(layer.size() - 1) / 2;
      }
    }
    for (std::size_t k = 0; k < layers_.size(); ++k) {
      auto& layer = layers_[forwards ? k : layers_.size() - 1 - k];
      std::vector<std::pair<double, std::size_t>> keys;
      for (const std::size_t p : layer) {
        const auto& beside = forwards ? places_[p].before : places_[p].after;
        double sum = 0;
        for (const std::size_t q : beside) sum += rank[q];
        keys.emplace_back(
            beside.empty() ? rank[p] : sum / static_cast<double>(beside.size()),
            p);
      }
      std::stable_sort(
          keys.begin(), keys.end(),
          [](const auto& a, const auto& b) { return a.first < b.first; });
      for (std::size_t i = 0; i < keys.size(); ++i) {
        layer[i] = keys[i].second;
        rank[layer[i]] =
            static_cast<double>(i) - static_cast<double>(layer.size() - 1) / 2;
      }
    }
  }

  double room(std::size_t a, std::size_t b) const {
    return (places_[a].across + places_[b].across) / 2 + gap();
  }

  void pack() {
    for (const auto& layer : layers_) {
      double total = 0;
      for (std::size_t i = 0; i < layer.size(); ++i) {
        if (i > 0) total += room(layer[i - 1], layer[i]);
        places_[layer[i]].centre = total;
      }
      for (const std::size_t p : layer) places_[p].centre -= total / 2;
    }
  }

  // Moves each place to the middle of its neighbours, as far as there is room.
  void align(bool forwards) {
    for (std::size_t k = 0; k < layers_.size(); ++k) {
      const auto& layer = layers_[forwards ? k : layers_.size() - 1 - k];
      std::vector<double> wanted;
      for (const std::size_t p : layer) {
        const auto& beside = forwards ? places_[p].before : places_[p].after;
        double sum = 0;
        for (const std::size_t q : beside) sum += places_[q].centre;
        wanted.push_back(beside.empty()
                             ? places_[p].centre
                             : sum / static_cast<double>(beside.size()));
      }
      // The mean of the tightest places from both sides.
      std::vector<double> low = wanted, high = wanted;
      for (std::size_t i = 1; i < layer.size(); ++i) {
        low[i] = std::max(low[i], low[i - 1] + room(layer[i - 1], layer[i]));
      }
      for (std::size_t i = layer.size(); i-- > 1;) {
        high[i - 1] =
            std::min(high[i - 1], high[i] - room(layer[i - 1], layer[i]));
      }
      for (std::size_t i = 0; i < layer.size(); ++i) {
        places_[layer[i]].centre = (low[i] + high[i]) / 2;
      }
    }
  }

  Point point(double along, double across) const {
    return downwards_ ? Point{across, along} : Point{along, across};
  }

  void write() {
    double least = 0, most = 0;
    for (const LayerPlace& p : places_) {
      least = std::min(least, p.centre - p.across / 2);
      most = std::max(most, p.centre + p.across / 2);
    }
    std::vector<double> start, extent;
    double at = 0;
    for (const auto& layer : layers_) {
      double size = 0;
      for (const std::size_t p : layer) {
        if (places_[p].node >= 0) {
          size = std::max(
              size,
              along(graph_.nodes[static_cast<std::size_t>(places_[p].node)]));
        }
      }
      start.push_back(at);
      extent.push_back(size);
      at += size + kBetweenLayers;
    }
    std::vector<Point> in(places_.size()), out(places_.size());
    for (std::size_t l = 0; l < layers_.size(); ++l) {
      for (const std::size_t p : layers_[l]) {
        LayerPlace& place = places_[p];
        const double c = place.centre - least;
        double from = start[l], size = extent[l];
        if (place.node >= 0) {
          auto& n = graph_.nodes[static_cast<std::size_t>(place.node)];
          from += (size - along(n)) / 2;
          size = along(n);
          n.at = point(from, c - place.across / 2);
        }
        in[p] = point(from, c);
        out[p] = point(from + size, c);
      }
    }
    for (std::size_t k = 0; k < chains_.size(); ++k) {
      auto& points = graph_.edges[k].points;
      points = {out[chains_[k].front()]};
      for (std::size_t i = 1; i + 1 < chains_[k].size(); ++i) {
        points.push_back(in[chains_[k][i]]);
        points.push_back(out[chains_[k][i]]);
      }
      points.push_back(in[chains_[k].back()]);
    }
    const double length = at - kBetweenLayers, breadth = most - least;
    graph_.width = downwards_ ? breadth : length;
    graph_.height = downwards_ ? length : breadth;
  }

  LayeredGraph& graph_;
  const bool downwards_;
  std::vector<LayerPlace> places_;
  std::vector<std::vector<std::size_t>> layers_;
  std::vector<std::vector<std::size_t>> chains_;  // of places, by edge
};

}  // namespace

void lay_out(LayeredGraph& graph, double most_width) {
  LayerPlacer(graph, false).run();
  if (graph.width > most_width) LayerPlacer(graph, true).run();
}

std::string path_of(const LayeredGraph& graph, const LayeredGraph::Edge& edge) {
  std::string out = path_through({edge.points.front()});
  for (std::size_t k = 1; k < edge.points.size(); ++k) {
    const Point a = edge.points[k - 1], b = edge.points[k];
    const bool straight = graph.downwards ? std::abs(a.x - b.x) < 0.01
                                          : std::abs(a.y - b.y) < 0.01;
    if (straight) {
      out += "L" + path_through({b}).substr(1);
      continue;
    }
    const Point c = graph.downwards ? Point{a.x, (a.y + b.y) / 2}
                                    : Point{(a.x + b.x) / 2, a.y};
    const Point d = graph.downwards ? Point{b.x, (a.y + b.y) / 2}
                                    : Point{(a.x + b.x) / 2, b.y};
    out += "C" + path_through({c, d, b}).substr(1);
  }
  return out;
}

}  // namespace sy::codegen::site
