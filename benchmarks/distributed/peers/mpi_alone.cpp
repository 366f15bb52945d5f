// All-reduce of floats by MPI alone, in place and blocking, for
// distributed_bench.cpp's figures. Prints lines "figure NAME NANOSECONDS".
//
// mpi_alone BYTES WARMUP COUNT PIECE…   bytes of a piece; 0: one call

#define OMPI_SKIP_MPICXX 1
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

void all_reduce(std::vector<float>& data, size_t piece) {
  for (size_t at = 0; at < data.size(); at += piece) {
    const size_t n = std::min(piece, data.size() - at);
    MPI_Allreduce(MPI_IN_PLACE, data.data() + at, static_cast<int>(n),
                  MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
  }
}

double ns_of(std::vector<float>& data, size_t piece) {
  using Clock = std::chrono::steady_clock;
  MPI_Barrier(MPI_COMM_WORLD);
  const auto begin = Clock::now();
  all_reduce(data, piece);
  return std::chrono::duration<double, std::nano>(Clock::now() - begin).count();
}

// The slower rank's time of each call counts.
double median_ns(std::vector<double> times) {
  const int count = static_cast<int>(times.size());
  MPI_Allreduce(MPI_IN_PLACE, times.data(), count, MPI_DOUBLE, MPI_MAX,
                MPI_COMM_WORLD);
  const auto middle = times.begin() + count / 2;
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (argc < 5) {
    std::fprintf(stderr, "mpi_alone BYTES WARMUP COUNT PIECE…\n");
    return 2;
  }
  const size_t bytes = std::strtoull(argv[1], nullptr, 10);
  const int warmup = std::atoi(argv[2]), count = std::atoi(argv[3]);
  std::vector<float> data(bytes / sizeof(float));
  std::vector<size_t> pieces;
  for (int i = 4; i < argc; ++i) {
    const size_t piece = std::strtoull(argv[i], nullptr, 10);
    pieces.push_back(piece == 0 ? bytes : piece);
  }
  // The sizes take turns: a machine that slows down slows down all.
  std::vector<std::vector<double>> times(pieces.size());
  for (int i = 0; i < warmup + count; ++i) {
    for (size_t p = 0; p < pieces.size(); ++p) {
      const double ns = ns_of(data, pieces[p] / sizeof(float));
      if (i >= warmup) times[p].push_back(ns);
    }
  }
  for (size_t p = 0; p < pieces.size(); ++p) {
    const double ns = median_ns(times[p]);
    if (rank == 0)
      std::printf("figure mpi_%zu_%zu %.0f\n", bytes, pieces[p], ns);
  }
  MPI_Finalize();
}
